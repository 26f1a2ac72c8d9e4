"""Closed formulas for Poisson arrivals."""

from __future__ import annotations

import numpy as np

from serving_sim.request import FloatArray


def single_server_wait(rate: float, mean: float, square: float) -> float:
    """Mean wait in M/G/1, first come first served, in time units.

    Pollaczek (1930) and Khinchine (1932): ``rate E[o^2] / (2 (1 - rho))``.

    Parameters
    ----------
    rate : float
        Requests per time unit, with rho = rate * mean below 1.
    mean, square : float
        First and second moment of the service time.
    """
    return rate * square / (2 * (1 - rate * mean))


def delay_probability(servers: int, offered: float) -> float:
    """Probability that an arrival at M/M/c must wait (Erlang 1917, his formula C).

    Parameters
    ----------
    servers : int
        c.
    offered : float
        Offered load a = rate * mean service time, below c.
    """
    blocked = 1.0  # Erlang B, from 0 servers up: B(k) = a B(k - 1) / (k + a B(k - 1))
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return servers * blocked / (servers - offered * (1 - blocked))


def heavy_traffic_wait(servers: int, load: float, mean: float, scv: float, gap_scv: float = 1.0) -> float:
    """Mean wait in G/G/c to which the exact one tends as the load tends to 1, in time units.

    Kingman (1962) for one server, Kollerstrom (1974) for several:
    ``(c_a^2 + c_s^2) / 2 * mean / (c (1 - rho))``.

    Parameters
    ----------
    servers : int
        c.
    load : float
        rho, share of the servers in use, below 1.
    mean, scv : float
        Mean and squared coefficient of variation of the service time.
    gap_scv : float
        Squared coefficient of variation of the gaps between arrivals; 1 for Poisson.
    """
    return (gap_scv + scv) / 2 * mean / (servers * (1 - load))


def priority_waits(rates: FloatArray, services: FloatArray, *, slotted: bool = False) -> FloatArray:
    """Mean wait of each class in M/G/1 with nonpreemptive priorities, in time units.

    With ``s_k`` the load of classes 1 to k, ``W_k = R / ((1 - s_(k-1)) (1 - s_k))``, where R is the mean
    time until the server may choose anew (Cobham 1954, "Priority assignment in waiting line problems").

    Parameters
    ----------
    rates, services : ndarray of float, shape (k,)
        Requests per time unit and fixed service time of each class, highest priority first.
    slotted : bool
        Services start at whole times only; they must then be whole. An arrival that finds the server
        empty waits for half a time unit on average before it is looked at.
    """
    loads = rates * services
    until_choice = float(np.sum(rates * services**2)) / 2
    if slotted:
        until_choice += (1 - float(np.sum(loads))) / 2
    up_to = np.cumsum(loads)
    return until_choice / ((1 - (up_to - loads)) * (1 - up_to))

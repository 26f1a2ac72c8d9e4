"""Several clients at once, each with a rate, a burstiness and lengths of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import check_kind
from workloads.arrivals import Gamma
from workloads.arrivals.stationary import superposed
from workloads.generate import Stream, client_seed, stream, token_columns
from workloads.lengths import Lengths
from workloads.parameters import check_count, check_positive


@dataclass(frozen=True)
class Client:
    """One sender of requests, with gamma gaps.

    Parameters
    ----------
    name : str
        The tenant of its requests.
    rate : float
        Requests per time unit.
    lengths : Lengths
        Distribution of their lengths in tokens.
    burstiness : float
        Shape of the gaps, as for `Gamma`: 1 is Poisson, below 1 burstier.

    Raises
    ------
    TypeError
        If the name is no text or the lengths are no distribution.
    ValueError
        If the name is empty or a number is not finite and above 0.
    """

    name: str
    rate: float
    lengths: Lengths
    burstiness: float = 1.0

    def __post_init__(self) -> None:
        check_kind("name", self.name, str, "a text")
        check_kind("lengths", self.lengths, Lengths, "a distribution, as parse_lengths gives it")
        if not self.name:
            raise ValueError(f"name={self.name!r}: must not be empty")
        check_positive("rate", self.rate)
        check_positive("burstiness", self.burstiness)

    @property
    def arrivals(self) -> Gamma:
        """When its requests come."""
        return Gamma(self.rate, self.burstiness)


@dataclass(frozen=True)
class Superposition:
    """The requests of several clients in one stream.

    The more clients there are, the nearer their stream is to Poisson over short times (Palm 1943,
    Khinchine 1955); over long times it stays as bursty as they are. So `scv` and `dispersion` differ.

    Parameters
    ----------
    clients : tuple of Client
        At least one; names are unique.

    Raises
    ------
    ValueError
        If there is none, or two share a name.
    """

    clients: tuple[Client, ...]

    def __init__(self, clients: Iterable[Client]) -> None:
        object.__setattr__(self, "clients", tuple(clients))
        if not self.clients:
            raise ValueError("clients: at least one is needed, found none")
        names: set[str] = set()
        for client in self.clients:
            if client.name in names:
                raise ValueError(f"name={client.name!r}: must be unique, two clients have it")
            names.add(client.name)

    @property
    def rate(self) -> float:
        """Mean requests per time unit."""
        return math.fsum(client.rate for client in self.clients)

    @property
    def mean_length(self) -> float:
        """Mean length of a request in tokens."""
        return math.fsum(client.rate * client.lengths.mean for client in self.clients) / self.rate

    @property
    def scv(self) -> float:
        """Squared coefficient of variation of the gaps, ``2 rate E[V] - 1``.

        V is the time from any instant to the next request, the least of those of the clients (Cox and
        Smith 1954, "On the superposition of renewal processes").
        """
        from scipy.integrate import quad

        mean, _ = quad(lambda unit: math.prod(self._none_within(unit / self.rate)), 0, math.inf, limit=500)
        return 2 * float(mean) - 1

    @property
    def dispersion(self) -> float:
        """Limiting index of dispersion of counts: that of the clients, weighted by their rates."""
        return math.fsum(client.rate * client.arrivals.dispersion for client in self.clients) / self.rate

    def at_rate(self, rate: float) -> Superposition:
        """The same clients, all faster or slower by one factor, with ``rate`` requests per time unit."""
        check_positive("rate", rate)
        factor = rate / self.rate
        return Superposition(replace(client, rate=client.rate * factor) for client in self.clients)

    def workload(self, n: int, seed: int | np.random.SeedSequence) -> Workload:
        """The first ``n`` requests; the tenant of each is the client's name.

        The clients have sent requests for ever before time 0: were all to begin then, bursty ones would
        come together at first. Each client has streams of its own, so a change of one leaves the
        requests of others as they are. Where all draw prompts and outputs, the workload tells them.

        Parameters
        ----------
        n : int
            Requests, >= 1.
        seed : int or SeedSequence
            Where all randomness comes from.

        Raises
        ------
        ValueError
            If ``n`` is below 1 or the seed negative.
        """
        check_count("n", n)
        seeds = [client_seed(seed, place) for place in range(len(self.clients))]
        release, sender = superposed(
            [client.arrivals for client in self.clients], [stream(own, Stream.GAPS) for own in seeds], n
        )
        counts = np.bincount(sender, minlength=len(seeds)).tolist()
        drawn = [
            token_columns(count, client.lengths, stream(own, Stream.LENGTHS))
            for count, client, own in zip(counts, self.clients, seeds, strict=True)
        ]
        by_client = np.argsort(sender, kind="stable")
        columns = {}
        for name in set.intersection(*map(set, drawn)):
            columns[name] = np.empty(n, dtype=np.int64)
            columns[name][by_client] = np.concatenate([part[name] for part in drawn])
        names = np.array([client.name for client in self.clients], dtype=np.object_)
        return Workload(release, **columns, tenant=names[sender])

    def _none_within(self, time: float) -> list[float]:
        """P(the next request of a client is further away), one a client.

        For gaps X of mean 1 / rate it is rate E[(X - t)^+], which for gamma gaps is a difference of
        two gamma tails.
        """
        from scipy.special import gammaincc

        shares = []
        for client in self.clients:
            shape, expected = client.burstiness, client.rate * time
            tails = gammaincc((shape + 1, shape), shape * expected)
            shares.append(max(0.0, float(tails[0] - expected * tails[1])))
        return shares

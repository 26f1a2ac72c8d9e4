"""Whether requests come fast enough for a run to tell its steps apart."""

from __future__ import annotations

from serving_sim import StepTime


def check_pace(said: str, count: int, last: float, *, slots: int, step_time: StepTime) -> None:
    """Refuse a pace at which the last request comes too late to tell steps apart.

    Parameters
    ----------
    said : str
        What gives the pace, with its value, as in ``load=1e-300``.
    count : int
        Requests.
    last : float
        When the last of them is to come, in time units.
    slots : int
        Largest batch, on which a load depends.
    step_time : StepTime
        Duration of a step.

    Raises
    ------
    ValueError
        If that is beyond the last instant of a run.
    """
    if last > step_time.latest:
        raise ValueError(f"{said}: {count:,} requests must come within 2**50 steps on {slots:,} slots")

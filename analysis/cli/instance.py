"""``--adversary``: an instance that was built to hurt, in the place of a workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from serving_sim.arguments import unknown
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from serving_sim import ReactiveSource, Workload

REACTIVE = "golden-ratio"

_PARAMETERS = {"gamma": float, "length": int}
_DEFAULTS = {"gamma": 0.5, "length": 20}
ALPHA = 5
"""Of the adversary that reacts, whose construction leaves it open."""


@dataclass(frozen=True)
class Against:
    """What arrives, and the worker that it was built for.

    Attributes
    ----------
    source : Workload or ReactiveSource
        The requests.
    slots, alpha : int
        Most requests in a batch, and the fairness budget in tokens.
    fact : str
        What there is to say of it.
    """

    source: Workload | ReactiveSource
    slots: int
    alpha: int
    fact: str


def adversarial(text: str, *, slots: int, alpha: int | None) -> Against:
    """The instance of ``NAME[:gamma=..,length=..]``; ``slots`` and ``alpha`` count where it leaves them open.

    Raises
    ------
    ValueError
        If there is no such adversary, or a value breaks its rule.
    """
    from analysis.experiments.adversarial import FAMILIES
    from workloads.adversaries import GoldenRatio

    name, _, rest = text.partition(":")
    if name not in (REACTIVE, *FAMILIES):
        raise ValueError(unknown("adversary", name, (REACTIVE, *FAMILIES)))
    given = _values(name, rest)
    values = {**_DEFAULTS, **given}
    if name == REACTIVE:
        if "gamma" in given:
            raise ValueError(f"{name}: takes no gamma")
        budget = ALPHA if alpha is None else alpha
        return Against(
            GoldenRatio(int(values["length"]), budget), 2, budget, f"{name} against L = {values['length']}"
        )
    instance, _ = FAMILIES[name](values["gamma"], int(values["length"]), slots)
    budget = instance.alpha if alpha is None else alpha
    return Against(instance.workload, instance.slots, budget, f"{name}, {how_many(len(instance), 'request')}")


def _values(name: str, rest: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for item in filter(None, rest.split(",")):
        key, _, raw = item.partition("=")
        if key not in _PARAMETERS:
            raise ValueError(f"{name}: {unknown('parameter', key, _PARAMETERS)}")
        if key in values:
            raise ValueError(f"{name}: {key!r} is set twice")
        try:
            values[key] = _PARAMETERS[key](raw)
        except ValueError:
            noun = "a whole number" if _PARAMETERS[key] is int else "a number"
            raise ValueError(f"{name}: {key}={raw!r}: must be {noun}") from None
    return values

"""Some of the requests, with their times as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import check_kind, did_you_mean, is_real
from serving_sim.how_many import how_many
from workloads.parameters import check_count
from workloads.shaping.shaping import Shaped, counted, in_arrival_order, kept


@dataclass(frozen=True)
class Head:
    """The first ``count`` requests in arrival order.

    Raises
    ------
    ValueError
        If the count is below 1 or, when applied, above the number of requests.
    """

    random: ClassVar[bool] = False
    count: int

    def __post_init__(self) -> None:
        check_count("count", self.count)

    def describe(self) -> str:
        return f"first {self.count:,}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        left = len(workload) - self.count
        if left < 0:
            raise ValueError(
                f"first {self.count:,}: must not be more than {how_many(len(workload), 'request')}"
            )
        first = in_arrival_order(workload).take(np.arange(self.count))
        return Shaped(first, counted({f"after the first {self.count:,}": left}))


@dataclass(frozen=True)
class Only:
    """The requests of one tenant or for one model.

    Parameters
    ----------
    column : str
        ``tenant`` or ``model``.
    value : str
        Whom to keep.

    Raises
    ------
    TypeError
        If the value is no text.
    ValueError
        When applied, if the workload lacks the column or no request has the value.
    """

    random: ClassVar[bool] = False
    column: Literal["tenant", "model"]
    value: str

    def __post_init__(self) -> None:
        check_kind("value", self.value, str, "a text")

    def describe(self) -> str:
        return f"{self.column} {self.value}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        column = getattr(workload, self.column)
        if column is None:
            raise ValueError(f"{self.column}={self.value!r}: the requests have no {self.column}")
        mine = column == self.value
        if not mine.any():
            hint = did_you_mean(self.value, set(column.tolist()))
            raise ValueError(f"{self.column}={self.value!r}: no request has it{hint and f'; {hint}'}")
        part = kept(workload, mine, self.describe())
        return Shaped(part, counted({f"other {self.column}": len(workload) - len(part)}))


@dataclass(frozen=True)
class Thin:
    """Each request stays with probability ``share``, whatever happens to the others.

    The rate over time keeps its form. A Poisson process stays Poisson; bursts of any other come
    nearer to Poisson, since their requests are torn apart (Daley and Vere-Jones, "An introduction to
    the theory of point processes", volume II, 2008, section 11.3).

    Raises
    ------
    ValueError
        If the share is not in (0, 1] or, when applied, if chance leaves no request.
    """

    random: ClassVar[bool] = True
    share: float

    def __post_init__(self) -> None:
        if not (is_real(self.share) and 0 < self.share <= 1):
            raise ValueError(f"share={self.share!r}: must be a number above 0 and at most 1")

    def describe(self) -> str:
        return f"sample of {self.share:g}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        drawn = rng.random(len(workload)) < self.share
        return Shaped(kept(workload, drawn, self.describe()), counted({"not sampled": (~drawn).sum()}))

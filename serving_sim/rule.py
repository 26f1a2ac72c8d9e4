"""What a policy may tell of itself so that a compiled engine can play it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serving_sim.policy import Policy


class Order(IntEnum):
    """Who of the waiting requests takes a free slot; ties go to the earlier arrival."""

    ARRIVAL = 0
    SMALLEST = 1
    LARGEST = 2
    ISJL = 3
    """The largest, but longs and packs are held back in phase ONE (``policies/isjl.py``)."""


@dataclass(frozen=True)
class Rule:
    """A policy in numbers: an order behind the test A_max <= `serving_sim.policy.Policy.alpha`.

    Attributes
    ----------
    order : Order
        The queue.
    allowance : int
        Packing allowance beta in tokens, of `Order.ISJL` only.
    """

    order: Order
    allowance: int = 0


def rule_of(policy: Policy) -> Rule | None:
    """What the policy's own class tells of it; a subclass may act differently and must tell itself."""
    return policy.rule() if "rule" in vars(type(policy)) else None

"""What a policy says of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Explanation:
    """Why a policy answered as it did.

    Attributes
    ----------
    rule : str
        The rule that the answer follows, with the numbers that it looked at.
    requests : mapping of int to str
        By request what the rule says of it alone: why it was admitted, or what holds it back. Requests of
        which there is nothing more to say are left out.
    """

    rule: str
    requests: Mapping[int, str] = field(default_factory=dict)

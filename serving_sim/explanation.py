"""What a policy says of a decision."""

from __future__ import annotations

from collections.abc import Container, Mapping
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


def fits(reason: object, waiting: Container[int]) -> bool:
    """Whether `Policy.explain` may return it at a decision that found these requests waiting."""
    if not isinstance(reason, Explanation):
        return reason is None
    requests: object = reason.requests
    if not isinstance(requests, Mapping):
        return False
    texts = (reason.rule, *requests.values())
    return all(isinstance(text, str) and text for text in texts) and all(each in waiting for each in requests)

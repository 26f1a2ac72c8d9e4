"""How tests look at refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workloads.tables.intake import BadRowError


def refusal(call: Callable[[], object]) -> str:
    """The message of the ValueError that a call must raise: one line, not empty."""
    with pytest.raises(ValueError, match=r"\A.+\Z") as caught:
        call()
    assert type(caught.value) in (ValueError, BadRowError)
    return str(caught.value)

"""No interval for a far quantile where a nearer one has none."""

from __future__ import annotations

import pytest

from analysis.estimate import Estimate
from analysis.outward import withhold_outward
from analysis.statistic import MEAN, quantiles

WITH, WITHOUT = Estimate(1.0, 0.5, 1.5), Estimate(1.0, note="short")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"p50": True, "p90": True, "p99": True}, "p50 p90 p99"),
        ({"p50": True, "p90": False, "p99": True}, "p50"),
        ({"p99": True, "p90": False}, ""),  # in whatever order they were asked for
        ({"p10": True, "p90": False, "p99": True}, "p10"),  # the other side is another matter
        ({"p1": True, "p10": False, "p90": True}, "p90"),
        ({"p50": False, "p10": True, "p90": True}, ""),
    ],
)
def test_by_hand(given: dict[str, bool], kept: str) -> None:
    statistics = quantiles([float(name[1:]) for name in given])
    found = withhold_outward(
        (MEAN, *statistics),
        {"mean": WITH, **{name: WITH if held else WITHOUT for name, held in given.items()}},
    )
    assert " ".join(name for name, each in found.items() if each.low is not None) == f"mean {kept}".strip()
    assert list(found) == ["mean", *given]


def test_the_reason_names_the_nearer_quantile() -> None:
    found = withhold_outward(quantiles([90, 99]), {"p90": WITHOUT, "p99": WITH})
    assert found["p99"] == Estimate(1.0, note="not enough data for p90, so none for p99")

"""What of the arrivals rules out intervals, whatever policy serves them and however well."""

from __future__ import annotations

from analysis.replications import ONE_LOG

FEWEST_PERIODS = 10
"""Rounds of the arrivals' rate that one run needs: its sections are pieces of rounds, not samples of them."""

_WHOLE = 0.001
"""Part of the rounds by which their number may miss a whole one.

What is over counts some hours twice. Half a round beside twenty takes the median of waits off by 3 to 4 %,
which no number of replications mends (``benchmarks/periodic_coverage.py``).
"""

_ROUNDING = 1e-9


def ruled_out(*, one_log: bool = False, periods: float | None = None, replications: int = 1) -> str | None:
    """Why nothing measured on these arrivals has an interval, None if it may have.

    Parameters
    ----------
    one_log : bool
        Whether all requests are draws from one log, replications or passes.
    periods : float or None
        Rounds of the arrivals' rate in a run, as `analysis.stability.WorkRates.periods` counts them.
    replications : int
        Runs, each of which goes through so many rounds.
    """
    return ONE_LOG if one_log else _broken_rounds(periods, replications)


def _broken_rounds(periods: float | None, replications: int) -> str | None:
    """Why so many rounds are no fair sample: some of the hours of a day count more than others."""
    if periods is None:
        return None
    fewest = FEWEST_PERIODS if replications == 1 else 1
    missed = abs(periods - max(fewest, round(periods)))
    if missed <= (_WHOLE + _ROUNDING) * periods:
        return None
    needed = f"of one run need {fewest} or more" if replications == 1 else "over replications need 1 or more"
    return f"arrivals have a period: intervals {needed}, whole but for 0.1 %, found {periods:.6g}"

"""Every claim of the paper that can be run, with the verdict of a run."""

from analysis.experiments.claims.claim import (
    QUICK,
    THOROUGH,
    Budget,
    Claim,
    Counterexample,
    Finding,
    Kind,
    Schedule,
    Verdict,
)
from analysis.experiments.claims.runner import all_claims, examine, find_claims

__all__ = [
    "QUICK",
    "THOROUGH",
    "Budget",
    "Claim",
    "Counterexample",
    "Finding",
    "Kind",
    "Schedule",
    "Verdict",
    "all_claims",
    "examine",
    "find_claims",
]

"""Lower bounds on the makespan of any schedule of given requests, fair or not.

Proofs stand in ``docs/explanation/bounds.md``, sketches beside the functions.
"""

from analysis.bounds.best import Bound, best_lower_bound
from analysis.bounds.certificate import Certificate, certify
from analysis.bounds.pool import Pool
from analysis.bounds.steps import (
    cohort_bound,
    drain_bound,
    longest_bound,
    mixed_bound,
    staggered_bound,
    work_bound,
)

__all__ = [
    "Bound",
    "Certificate",
    "Pool",
    "best_lower_bound",
    "certify",
    "cohort_bound",
    "drain_bound",
    "longest_bound",
    "mixed_bound",
    "staggered_bound",
    "work_bound",
]

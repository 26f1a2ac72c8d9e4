"""ISJL under prediction intervals (Yao and Zhou, section 3.4)."""

from __future__ import annotations

from policies.isjl import ISJL


class RobustISJL(ISJL):
    """ISJL that plans with the upper predictions and checks fairness with real progress.

    Sorting, packing and holding use ``upper``; the guard looks at what requests have actually
    produced, so the batch stays alpha-fair whatever the predictions (theorem 3.21). Requests that
    end early free their slot early, and the hold of the longs is projected anew. With
    ``upper == length`` it is `ISJL`.
    """

    name = "robust-isjl"
    needs_upper = True
    rule = ISJL.rule  # a rule counts for the class that names it

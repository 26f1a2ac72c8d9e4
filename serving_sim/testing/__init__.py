"""Conformance kit for policies and sources of one's own.

`check_policy` and `check_source` try everything at once, `PolicyContract` and `SourceContract` are
test classes to inherit, and `Checked` watches a policy while it works.
"""

from serving_sim.testing.behaviour_checks import (
    check_begin_forgets,
    check_causality,
    check_determinism,
    check_explanations,
    check_non_clairvoyance,
)
from serving_sim.testing.breaches import BreachError
from serving_sim.testing.checked import Checked
from serving_sim.testing.contracts import PolicyContract, SourceContract
from serving_sim.testing.instances import INSTANCES, Instance, Row
from serving_sim.testing.passthrough import PassThrough
from serving_sim.testing.rule_checks import (
    check_answers,
    check_capacity,
    check_claims,
    check_epoch_use,
    check_fairness,
    check_service,
    check_slots,
    check_waiting,
    check_wake_ups,
)
from serving_sim.testing.source_checks import (
    check_blocks,
    check_end,
    check_kind,
    check_repeatable,
    check_reusable,
)
from serving_sim.testing.suite import check_policy, check_source

__all__ = [
    "INSTANCES",
    "BreachError",
    "Checked",
    "Instance",
    "PassThrough",
    "PolicyContract",
    "Row",
    "SourceContract",
    "check_answers",
    "check_begin_forgets",
    "check_blocks",
    "check_capacity",
    "check_causality",
    "check_claims",
    "check_determinism",
    "check_end",
    "check_epoch_use",
    "check_explanations",
    "check_fairness",
    "check_kind",
    "check_non_clairvoyance",
    "check_policy",
    "check_repeatable",
    "check_reusable",
    "check_service",
    "check_slots",
    "check_source",
    "check_waiting",
    "check_wake_ups",
]

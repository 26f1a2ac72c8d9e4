"""The checks as methods of classes to inherit, one test each.

The classes need no test framework: pytest collects what inherits from them and is named ``Test..``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from serving_sim.policy import Policy
from serving_sim.testing import behaviour_checks, rule_checks, source_checks
from serving_sim.testing.instances import INSTANCES, Instance
from serving_sim.testing.observing import MakePolicy
from serving_sim.testing.source_checks import Source


class PolicyContract:
    """What every policy keeps; inherit and define `make_policy`.

    Attributes
    ----------
    alpha : int or None
        Fairness budget in tokens that the policy keeps on its own, beside its ``Policy.alpha``.
    instances : sequence of Instance
        What the policy is tried on.

    Examples
    --------
    >>> class TestMyPolicy(PolicyContract):
    ...     def make_policy(self):
    ...         return MyPolicy(patience=8)
    """

    alpha: int | None = None
    instances: Sequence[Instance] = INSTANCES

    def make_policy(self) -> Policy:
        """A new policy, always with the same parameters."""
        raise NotImplementedError

    def test_claims(self) -> None:
        """See `check_claims`."""
        self._each(rule_checks.check_claims)

    def test_answers(self) -> None:
        """See `check_answers`."""
        self._each(rule_checks.check_answers)

    def test_capacity(self) -> None:
        """See `check_capacity`."""
        self._each(rule_checks.check_capacity)

    def test_waiting(self) -> None:
        """See `check_waiting`."""
        self._each(rule_checks.check_waiting)

    def test_slots(self) -> None:
        """See `check_slots`."""
        self._each(rule_checks.check_slots)

    def test_epoch_use(self) -> None:
        """See `check_epoch_use`."""
        self._each(rule_checks.check_epoch_use)

    def test_wake_ups(self) -> None:
        """See `check_wake_ups`."""
        self._each(rule_checks.check_wake_ups)

    def test_service(self) -> None:
        """See `check_service`."""
        self._each(rule_checks.check_service)

    def test_fairness(self) -> None:
        """See `check_fairness`."""
        for instance in self.instances:
            rule_checks.check_fairness(self.make_policy, instance, self.alpha)

    def test_determinism(self) -> None:
        """See `check_determinism`."""
        self._each(behaviour_checks.check_determinism)

    def test_begin_forgets(self) -> None:
        """See `check_begin_forgets`."""
        self._each(behaviour_checks.check_begin_forgets)

    def test_explanations(self) -> None:
        """See `check_explanations`."""
        self._each(behaviour_checks.check_explanations)

    def test_causality(self) -> None:
        """See `check_causality`."""
        self._each(behaviour_checks.check_causality)

    def test_non_clairvoyance(self) -> None:
        """See `check_non_clairvoyance`."""
        self._each(behaviour_checks.check_non_clairvoyance)

    def _each(self, check: Callable[[MakePolicy, Instance], None]) -> None:
        for instance in self.instances:
            check(self.make_policy, instance)


class SourceContract:
    """What every source of requests keeps; inherit and define `make_source`.

    Attributes
    ----------
    most : int
        Requests after which the source counts as endless.

    Examples
    --------
    >>> class TestMySource(SourceContract):
    ...     def make_source(self):
    ...         return MySource(users=8, seed=1)
    """

    most: int = source_checks.MOST

    def make_source(self) -> Source:
        """A new source, always with the same parameters and seed."""
        raise NotImplementedError

    def test_kind(self) -> None:
        """See `check_kind`."""
        source_checks.check_kind(self.make_source)

    def test_blocks(self) -> None:
        """See `check_blocks`."""
        source_checks.check_blocks(self.make_source, self.most)

    def test_end(self) -> None:
        """See `check_end`."""
        source_checks.check_end(self.make_source, self.most)

    def test_repeatable(self) -> None:
        """See `check_repeatable`."""
        source_checks.check_repeatable(self.make_source)

    def test_reusable(self) -> None:
        """See `check_reusable`."""
        source_checks.check_reusable(self.make_source)

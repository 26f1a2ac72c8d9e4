"""Costs as tables of text, the same for terminal and report."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.books import Books, Lead
from analysis.definitions import COST_METRICS
from analysis.externality import LengthClass
from analysis.prices import Prices
from analysis.tables import Table
from analysis.text import ABSENT, number, with_interval
from analysis.time_unit import TimeUnit


def cost_tables(
    books: Sequence[Books], leads: Sequence[Lead], prices: Prices, time_unit: TimeUnit
) -> list[Table]:
    """All tables that have something to say: costs, comparisons, guarantees, tariffs, classes of length."""
    tables = [_costs(books)]
    if leads:
        tables.append(_leads(leads))
    if any(each.guarantee for each in books):
        tables.append(_guarantees(books, time_unit))
    if prices.tariffs:
        tables.append(_tariffs(books, prices))
    shared = ((each, pays_for_others(each)) for each in books)
    return [
        *tables,
        *(_classes(each.policy, classes, prices, time_unit) for each, classes in shared if classes),
    ]


def pays_for_others(books: Books) -> Sequence[LengthClass]:
    """Classes of length that share an externality; none where there is none or it was not split."""
    return books.classes if books.classes and books.figures["externality_cost"].value else ()


def _costs(books: Sequence[Books]) -> Table:
    rows = [
        (each.policy, *(with_interval(each.figures[entry.key]) for entry in COST_METRICS)) for each in books
    ]
    return Table(
        "what serving costs and brings, in money", ("policy", *(e.title for e in COST_METRICS)), rows
    )


def _leads(leads: Sequence[Lead]) -> Table:
    rows = [
        (
            lead.policy,
            with_interval(lead.saved_steps),
            with_interval(lead.added_externality),
            with_interval(lead.profit),
            ABSENT if lead.promised is None else with_interval(lead.promised),
            "none" if lead.break_even is None else number(lead.break_even),
        )
        for lead in leads
    ]
    header = ("policy", "steps saved", "tau E added", "profit more", "promised by alpha", "break-even c")
    title = f"against {leads[0].baseline} on the same requests, in money but for the steps"
    return Table(title, header, rows)


def _guarantees(books: Sequence[Books], time_unit: TimeUnit) -> Table:
    rows = [
        (
            each.policy,
            number(each.guarantee.alpha),
            with_interval(each.guarantee.least_steps),
            with_interval(each.guarantee.by_theorem),
            with_interval(each.guarantee.by_run),
        )
        for each in books
        if each.guarantee is not None
    ]
    header = ("policy", time_unit.in_service("alpha, tokens"), "steps at least", "theorem 5.2", "this run")
    title = "how much more the best schedule with the same alpha could earn, at most, in money"
    return Table(title, header, rows)


def _tariffs(books: Sequence[Books], prices: Prices) -> Table:
    rows = [
        (
            name,
            *map(number, (tariff.input, tariff.output, tariff.cached)),
            *(with_interval(each.tariffs[name]) for each in books),
        )
        for name, tariff in prices.tariffs.items()
    ]
    header = ("tariff", "input", "output", "cached", *(f"profit, {each.policy}" for each in books))
    return Table("profit by tariff, in money; prices in money per million tokens", header, rows)


def _classes(policy: str, classes: Sequence[LengthClass], prices: Prices, time_unit: TimeUnit) -> Table:
    total = sum(each.suffered for each in classes)
    header = (
        time_unit.in_service("length, tokens"),
        "requests",
        "tau E suffered, %",
        "tau E caused, %",
        "cost as suffered",
        "cost as caused",
        "price",
    )
    title = f"who pays for whom under {policy}; the last three are means a request, in money"
    return Table(title, header, [_class(each, total, prices) for each in classes])


def _class(shared: LengthClass, total: int, prices: Prices) -> tuple[str, ...]:
    model = prices.model
    own = model.c * shared.steps + model.tau * shared.intrinsic
    suffered, caused = model.tau * shared.suffered, model.tau * shared.caused
    return (
        span(shared),
        f"{shared.requests:,}",
        f"{100 * shared.suffered / total:.1f}",
        f"{100 * shared.caused / total:.1f}",
        number((own + suffered) / shared.requests),
        number((own + caused) / shared.requests),
        number(prices.per_token * shared.tokens / shared.requests),
    )


def span(shared: LengthClass) -> str:
    """Lengths of a class, as in ``1 to 38``."""
    return f"{shared.shortest:,} to {shared.longest:,}"

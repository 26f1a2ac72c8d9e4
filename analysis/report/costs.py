"""The section of a report that is about money."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.books import Books, Lead
from analysis.cost_tables import cost_tables, pays_for_others, span
from analysis.externality import LengthClass
from analysis.plots.costs import cost_bars
from analysis.prices import Prices
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.text import number
from analysis.time_unit import TimeUnit


def cost_section(
    books: Sequence[Books], leads: Sequence[Lead], prices: Prices, time_unit: TimeUnit
) -> Section:
    """Costs, profits, guarantees, and who pays for whom.

    Parameters
    ----------
    books : sequence of Books
        One a policy, the baseline first.
    leads : sequence of Lead
        Of the other policies over the baseline.
    prices : Prices
        What the books were kept with.
    time_unit : TimeUnit
        What the runs count service in.
    """
    bars = cost_bars({each.policy: _parts(each) for each in books})
    picture = Picture(
        "costs",
        "Where the cost comes from",
        "One bar a policy, in money. The first part is the same for all, since all serve the same requests.",
        bars,
    )
    tables = cost_tables(books, leads, prices, time_unit)
    measures = [time_unit.in_service(text) for text in _measures(prices)]
    return Section("costs", "Costs", measures, _found(books, time_unit), tables, [picture])


def _parts(books: Books) -> dict[str, float]:
    keys = {"tau_q": "intrinsic_cost", "c_t": "time_cost", "tau_e": "externality_cost"}
    return {part: books.figures[key].value or 0.0 for part, key in keys.items()}


def _measures(prices: Prices) -> list[str]:
    model = prices.model
    return [
        (
            f"A step costs c = {model.c:g}, and tau = {model.tau:g} for every request of the batch and every "
            "token of the longest cache in it, since the whole batch waits for its longest member. A token "
            f"of a request brings {prices.per_token:g}. All amounts are in the money of these three prices, "
            "and count every request, those of the warm-up too."
        ),
        (
            "The cost splits exactly into tau Q, which every order of service pays; c T for the T steps "
            "taken; and tau E, the batching externality: what requests pay for sharing batches with longer "
            "caches. So one policy earns more than another by c times the steps it saves less tau times the "
            "externality it adds. At the break-even c both earn the same; above it the one with fewer steps "
            "earns more."
        ),
        (
            "A policy that keeps its requests within alpha tokens of each other has E of at most alpha times "
            "all tokens. This alone promises a part of its lead, before E is measured, and bounds what the "
            "best schedule with the same alpha could earn more (Yao and Zhou, equations 13 and 14, and "
            "theorem 5.2 with a proven least number of steps in the place of the optimum)."
        ),
        (
            "In every step a request suffers the tokens by which the longest cache of the batch is ahead of "
            "its own, and the request with that cache causes them. The cost of a request is an even share of "
            "each of its steps and its own tokens, and besides either what it suffered or what it caused; "
            "the price beside it is what it brings."
        ),
    ]


def _found(books: Sequence[Books], time_unit: TimeUnit) -> list[str]:
    profit = {each.policy: each.figures["profit"].value or 0.0 for each in books}
    most, least = max(profit, key=profit.__getitem__), min(profit, key=profit.__getitem__)
    # of these runs: whether others would say the same is in the table of leads, with intervals
    text = (
        f"In these runs {most} earned most, {number(profit[most])}; {least} least, {number(profit[least])}."
    )
    found = [] if profit[most] == profit[least] else [text]
    for each in books:
        classes = pays_for_others(each)
        if classes:
            total = sum(one.suffered for one in classes)
            ends = " ".join(_who(one, total) for one in (classes[0], classes[-1]))
            found.append(f"{each.policy}: {time_unit.in_service(ends)}")
    return found


def _who(shared: LengthClass, total: int) -> str:
    return (
        f"Requests of {span(shared)} tokens suffer {100 * shared.suffered / total:.0f} % of its externality "
        f"and cause {100 * shared.caused / total:.0f} %."
    )

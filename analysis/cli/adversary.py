"""``serving-sim adversary``: policies against instances that were built, or are searched, to hurt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.cli import completion
from analysis.cli.console import progress, say, show, show_json
from analysis.cli.instance import ALPHA, REACTIVE
from analysis.cli.options import Json
from analysis.cli.paths import output_folder
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from analysis.experiments.adversarial import Duel
    from analysis.experiments.search import Found, Space

_POLICIES = ("fcfs", "ljf", "lpt", "isjl")
_ONLINE = ("fair-fcfs", "isjl", "delayed:x=0.6180339887498949,inner=fair-fcfs")


def adversary(
    name: Annotated[
        str,
        typer.Argument(
            help="golden-ratio, over- or under-inserting, jigsaw, long-then-short, static-waste, "
            "search or worst-by-slots.",
            autocompletion=completion.adversary,
        ),
    ],
    *,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME[:key=value,..]; repeatable (default: the usual suspects).",
            autocompletion=completion.policy,
            show_default=False,
        ),
    ] = None,
    gamma: Annotated[
        float, typer.Option(help="alpha over the longest length, for the inserting families.")
    ] = 0.5,
    length: Annotated[int, typer.Option(help="Longest length in tokens.", min=1)] = 200,
    slots: Annotated[
        int, typer.Option(help="Slots, where the construction leaves them open.", min=1, max=1000)
    ] = 2,
    alpha: Annotated[
        int | None,
        typer.Option(help="Fairness budget (default: that of the construction).", min=0, show_default=False),
    ] = None,
    most_requests: Annotated[
        int, typer.Option(help="search: most requests of an instance.", min=1, max=1000)
    ] = 6,
    longest: Annotated[
        int, typer.Option(help="search: longest length in tokens.", min=2, max=1_000_000)
    ] = 24,
    latest: Annotated[int, typer.Option(help="search: latest release in steps.", min=0)] = 0,
    seconds: Annotated[
        float, typer.Option(help="search: longest time to climb, for each policy.", min=0.1)
    ] = 60.0,
    steps: Annotated[int, typer.Option(help="search: instances each process tries.", min=1)] = 10_000,
    workers: Annotated[int, typer.Option(help="search: processes.", min=1, max=256)] = 2,
    seed: Annotated[int, typer.Option(help="search: seed of the climbs.", min=0)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for pictures.", metavar="DIR", parser=output_folder, show_default=False),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Play an adversary against policies and certify the ratio of the optimum to their makespan.

    The ratio is at most 1, as the paper's competitive ratio; its inverse is the usual convention, and the
    usual word an approximation ratio where all requests are there from the start.
    """
    from analysis.compare import check_distinct
    from policies import parse_policy

    how: dict[str, Any] = {"seed": seed, "steps": steps, "seconds": seconds, "workers": workers}
    if name == "search":
        from analysis.experiments.search import Space

        space = Space(slots, max(most_requests, slots), longest, latest)
        chosen = policy or ["isjl"]
        check_distinct([parse_policy(each, defaults={"alpha": longest}).describe() for each in chosen])
        names = ", ".join(chosen)
        say(
            f"search: {names} on {how_many(slots, 'slot')}, at most {seconds:g} s each, seed {seed}",
            quiet=quiet,
        )
        with progress(len(chosen), quiet=quiet) as begin:
            found = _searched(chosen, space, begin, **how)
        _report_found(found, json=json)
        return
    if name == "worst-by-slots":
        say(f"search: ljf, lpt, isjl on 2 to 6 slots, at most {seconds:g} s each, seed {seed}", quiet=quiet)
        _worst_by_slots(out, longest=longest, json=json, quiet=quiet, **how)
        return
    if name == REACTIVE:
        chosen = policy or list(_ONLINE)
        say(f"{name}: {', '.join(chosen)} against L = {length}", quiet=quiet)
        duels = _golden(chosen, length=length, alpha=ALPHA if alpha is None else alpha)
    else:
        from analysis.experiments.adversarial import play

        chosen = policy or list(_POLICIES)
        say(f"{name}: {', '.join(chosen)}", quiet=quiet)
        duels = [play(name, each, gamma=gamma, length=length, slots=slots, alpha=alpha) for each in chosen]
    check_distinct([duel.policy for duel in duels])  # only a duel knows its budget
    _report(duels, json=json)
    if out is not None:
        _draw(name, out)
        say(f"pictures are in {out}", quiet=quiet)


def _golden(policies: list[str], *, length: int, alpha: int) -> list[Duel]:
    from analysis.experiments.adversarial import budget_beside, play_golden_ratio
    from policies import parse_policy

    built = [parse_policy(each, defaults={"alpha": alpha}) for each in policies]
    return [
        play_golden_ratio(policy, length, budget_beside(text, policy, alpha))
        for text, policy in zip(policies, built, strict=True)
    ]


def _report(duels: list[Duel], *, json: bool) -> None:
    from analysis.tables import Table
    from analysis.text import number

    if json:
        show_json({"duels": [{**asdict(duel), "ratio": duel.ratio} for duel in duels]})
        return
    rows = [
        (
            duel.policy,
            str(duel.requests),
            number(duel.makespan),
            number(duel.upper) if duel.lower == duel.upper else f"{number(duel.lower)}..{number(duel.upper)}",
            _ratio(*duel.ratio),
            "-" if duel.expected is None else f"{duel.expected:.6f}",
        )
        for duel in duels
    ]
    title = f"{duels[0].adversary}: best makespan over the policy's, in steps"
    show(Table(title, ("policy", "requests", "makespan", "optimum", "ratio", "built for"), rows))


def _ratio(low: float, high: float) -> str:
    return f"{low:.6f}" if low == high else f"{low:.6f}..{high:.6f}"


def _searched(
    policies: list[str],
    space: Space,
    begin: Callable[[str], None],
    **how: Any,  # noqa: ANN401
) -> dict[str, Found]:
    from analysis.experiments.search import search

    found = {}
    for policy in policies:
        begin(policy)
        found[policy] = search(policy, space, **how)
    return found


def _report_found(found: dict[str, Found], *, json: bool) -> None:
    from analysis.tables import Table

    if json:
        show_json({"found": [_as_json(name, worst) for name, worst in found.items()]})
    else:
        rows = [
            (
                name,
                str(worst.makespan),
                str(worst.optimum.upper),
                f"{float(worst.ratio):.4f}",
                _instance(worst),
            )
            for name, worst in found.items()
        ]
        show(Table("worst instances found", ("policy", "makespan", "optimum", "ratio", "instance"), rows))


def _worst_by_slots(
    out: Path | None,
    *,
    longest: int,
    json: bool,
    quiet: bool,
    **how: Any,  # noqa: ANN401
) -> None:
    from analysis.experiments.search import Space, search
    from analysis.tables import Table

    policies, slots = ("ljf", "lpt", "isjl"), range(2, 7)
    found: dict[str, dict[int, float]] = {name: {} for name in policies}
    with progress(len(policies) * len(slots), quiet=quiet) as begin:
        for name in policies:
            for each in slots:
                begin(f"{name} on {each} slots")
                found[name][each] = float(search(name, Space(each, each + 4, longest), **how).ratio)
    if json:
        show_json({"worst": {name: list(ratios.items()) for name, ratios in found.items()}})
    else:
        rows = [(name, *(f"{ratio:.4f}" for ratio in ratios.values())) for name, ratios in found.items()]
        header = ("policy", *(f"{each} slots" for each in slots))
        show(Table("worst ratio found: optimum over makespan", header, rows))
    if out is not None:
        from analysis.experiments.pictures import draw_worst_against_slots

        draw_worst_against_slots(found, out)


def _as_json(policy: str, worst: Found) -> dict[str, object]:
    return {
        "policy": policy,
        "ratio": float(worst.ratio),
        "makespan": worst.makespan,
        "optimum": worst.optimum.upper,
        "optimal_start": list(worst.optimum.start),
        **asdict(worst.instance),
    }


def _instance(worst: Found) -> str:
    instance = worst.instance
    text = f"lengths {', '.join(map(str, instance.lengths))}; alpha {instance.alpha}"
    return text if instance.releases is None else f"{text}; releases {', '.join(map(str, instance.releases))}"


def _draw(name: str, out: Path) -> None:
    """Write the picture that `reproduce` has of the adversary, where it has one."""
    from analysis.experiments.reproduce import fig4, golden_ratio
    from analysis.experiments.reproduce.experiment import Settings

    figures = {
        REACTIVE: golden_ratio.EXPERIMENT,
        "over-inserting": fig4.EXPERIMENT,
        "under-inserting": fig4.EXPERIMENT,
    }
    if name in figures:
        tasks = figures[name].tasks(Settings())
        item = figures[name].item({task.name: task.work(**task.arguments) for task in tasks})
        for picture in item.section.pictures:
            picture.save(out)

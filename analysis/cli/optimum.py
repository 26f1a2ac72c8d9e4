"""``serving-sim optimum``: the best schedule of a small instance, or the interval that holds it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from analysis.cli.console import say, show, show_json
from analysis.cli.options import Json
from serving_sim.how_many import how_many


def optimum(
    lengths: Annotated[str, typer.Argument(help="Lengths in tokens, as in 10,7,7,5,1.")],
    *,
    slots: Annotated[int, typer.Option(help="Most requests in a batch.", min=1, max=1_000_000)] = 2,
    alpha: Annotated[
        int | None,
        typer.Option(help="Fairness budget in tokens (default: none).", min=0, show_default=False),
    ] = None,
    releases: Annotated[
        str | None, typer.Option(help="Releases in steps, as in 0,0,3 (default: all 0).", show_default=False)
    ] = None,
    solver: Annotated[str, typer.Option(help="cp-sat or milp.")] = "cp-sat",
    time_limit: Annotated[float, typer.Option(help="Seconds to search at most.", min=0.01)] = 10.0,
    workers: Annotated[int, typer.Option(help="Threads of cp-sat.", min=1)] = 1,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Find the least makespan of an alpha-fair schedule, proven or as an interval."""
    from analysis.optimum import optimum as solve
    from analysis.tables import Table

    tokens = _numbers("lengths", lengths)
    since = None if releases is None else _numbers("releases", releases)
    budget = "no fairness asked" if alpha is None else f"alpha {alpha}"
    asked = f"{how_many(len(tokens), 'request')} on {how_many(slots, 'slot')}, {budget}"
    say(f"{asked}, {solver} for {time_limit:g} s", quiet=quiet)
    if solver not in ("cp-sat", "milp"):
        raise ValueError(f"--solver={solver!r}: must be cp-sat or milp")
    best = solve(tokens, slots, alpha, since, solver=solver, time_limit=time_limit, workers=workers)  # type: ignore[arg-type]
    if json:
        show_json({**asdict(best), "proven": best.proven})
        return
    if best.proven:
        verdict = f"optimum {best.upper} steps, proven"
    else:
        verdict = f"optimum between {best.lower} and {best.upper} steps, not proven in time"
    rows = [
        (str(request), str(length), str(begin), str(begin + length))
        for request, (length, begin) in enumerate(zip(tokens, best.start, strict=True))
    ]
    show(Table(f"{verdict}; a schedule of {best.upper}:", ("request", "length", "start", "finish"), rows))


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--{name}={text!r}: must be whole numbers with commas between them") from None

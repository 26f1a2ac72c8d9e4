"""``serving-sim policies``: what there is to choose from."""

from __future__ import annotations

from dataclasses import asdict

from analysis.cli.console import show, show_json
from analysis.cli.options import Json


def policies(*, json: Json = False) -> None:
    """List the policies, built in and installed, with their parameters."""
    from analysis.tables import Table
    from policies import catalogue

    entries = catalogue()
    if json:
        show_json({"policies": [asdict(entry) for entry in entries]})
        return
    rows = [
        (entry.name, ", ".join(entry.parameters) or "-", entry.origin, entry.summary) for entry in entries
    ]
    show(Table("policies", ("policy", "parameters", "origin", "rule"), rows, numbers=False))

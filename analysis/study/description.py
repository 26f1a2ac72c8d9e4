"""What a study simulated, in the words of its file, for those who have the report alone."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.study.definition import Study
from analysis.study.source import Logged, Scalar

_HEADINGS = {
    "workload": "Workloads",
    "requests_file": "Logs",
    "lengths": "Lengths",
    "arrivals": "Arrivals",
    "num_prompts": "Requests of a run",
    "load": "Loads",
    "request_rate": "Requests per time unit",
    "slots": "Slots",
    "step_time": "Step times",
    "policy": "Policies",
    "alpha": "Alpha",
}
"""By coordinate of a cell; the replication is counted elsewhere."""


def described(study: Study) -> dict[str, str]:
    """Everything that the cells of a study depend on, by heading.

    Every value of a coordinate stands there as the study file writes it, along the axis of the curves or
    the same in all cells; files stand with the digest by which finished cells were told from outdated ones.
    """
    facts = {heading: "; ".join(map(str, values)) for heading, values in _coordinates(study)}
    shared = study.cells[0].settings
    goodput = ", ".join(f"{metric} {limit:g}" for metric, limit in (shared.goodput or {}).items())
    return facts | {
        **_files(study),
        **({"Goodput up to": goodput} if goodput else {}),
        "Percentiles": ", ".join(f"{each:g}" for each in shared.percentiles),
        "Seed": str(shared.seed),
        "Time": f"in {study.time_unit.plural}",
    }


def _coordinates(study: Study) -> Iterator[tuple[str, list[str | int | float]]]:
    """Each coordinate that some cell has, with its values in the order of the file."""
    found: dict[str, dict[Scalar, None]] = {name: {} for name in _HEADINGS}
    for cell in study.cells:
        coordinates = cell.coordinates
        for name, values in found.items():
            values[coordinates.get(name)] = None
    for name, heading in _HEADINGS.items():
        given = [value for value in found[name] if value is not None]
        if given:
            yield heading, given


def _files(study: Study) -> dict[str, str]:
    """Digests of the files that cells depend on, and how logs were read; empty without any."""
    sources = list(dict.fromkeys(cell.source for cell in study.cells))
    digests = dict(pair for source in sources for pair in source.digests.items())
    if not digests:
        return {}
    facts = {"Digests of files": "; ".join(f"{name} {digest}" for name, digest in digests.items())}
    log = sources[0]
    if isinstance(log, Logged):  # all are, and are read alike
        unit = "" if log.time_unit is None else f", {log.time_unit:g} s a time unit"
        facts["Logs read"] = f"format {log.format}, length {log.length}{unit}, bad rows: {log.on_bad_row}"
    return facts

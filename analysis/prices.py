"""What steps, tokens of cache and answers cost and bring, and the table of tariffs that a user edits."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.economics import CostModel, Tariff, check_price
from serving_sim import Workload
from workloads.own_inputs import note_input

_NAME, _PRICES, _OPTIONAL = "tariff", ("input", "output"), ("cached",)


@dataclass(frozen=True)
class Prices:
    """Money side of a run.

    Attributes
    ----------
    model : CostModel
        What serving costs.
    per_token : float
        Price of a token of a request, prompt and answer alike (p_0), in money, >= 0.
    tariffs : mapping of str to Tariff
        Separate prices by name, applied where prompt and output tokens are known.

    Raises
    ------
    ValueError
        If the price is out of range.
    """

    model: CostModel
    per_token: float
    tariffs: Mapping[str, Tariff] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.per_token < float("inf"):
            raise ValueError(f"price={self.per_token!r}: must be a finite number >= 0")
        check_price("price", self.per_token)


def check_tariffs(prices: Prices, workloads: Sequence[Workload]) -> None:
    """Refuse separate prices for requests of which only the length is known.

    Raises
    ------
    ValueError
        If there are tariffs and a workload lacks prompt or output tokens.
    """
    if prices.tariffs and any(each.prompt_tokens is None or each.output_tokens is None for each in workloads):
        names = ", ".join(prices.tariffs)
        raise ValueError(f"tariffs={names!r}: separate prices need a log with prompt and output tokens")


def read_tariffs(path: Path) -> dict[str, Tariff]:
    """Read a table of tariffs.

    Parameters
    ----------
    path : Path
        CSV with the columns ``tariff``, ``input``, ``output`` and, where there is such a price,
        ``cached``, in money per million tokens.

    Returns
    -------
    dict of str to Tariff
        By name, in the order of the file.

    Raises
    ------
    ValueError
        If a column is missing, a price is no number >= 0, a name comes twice or there is no row; the
        message names file, line, column and value.
    """
    note_input(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"tariffs={str(path)!r}: must be a readable CSV file ({error})") from error
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    columns = reader.fieldnames or []
    for column in (_NAME, *_PRICES):
        if column not in columns:
            raise ValueError(
                f"{path}, line 1: column {column!r} is missing, found {', '.join(columns) or 'none'}"
            )
    tariffs: dict[str, Tariff] = {}
    for name, where, row in _rows(reader, path):
        if name in tariffs:
            raise ValueError(f"{where}, tariff={name!r}: must not come twice")
        optional = [column for column in _OPTIONAL if row.get(column)]
        prices = {column: _price(row, column, where) for column in (*_PRICES, *optional)}
        tariffs[name] = Tariff(**prices)
    if not tariffs:
        raise ValueError(f"{path}: must hold at least one tariff below its header")
    return tariffs


def _rows(reader: csv.DictReader[str], path: Path) -> Iterator[tuple[str, str, dict[str, str | None]]]:
    """Name, place in words and cells of each row."""
    for row in reader:
        cells: dict[str, str | None] = {**row}
        yield (cells[_NAME] or "").strip(), f"{path}, line {reader.line_num}", cells


def _price(row: Mapping[str, str | None], column: str, where: str) -> float:
    text = row[column]
    try:
        value = float(text or "")
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(f"{where}, {column}={text!r}: must be a number >= 0, in money per million tokens")
    check_price(f"{where}, {column}", value)
    return value

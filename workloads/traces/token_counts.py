"""Files of token counts without times, such as statistics of ShareGPT and other collections of chats."""

from __future__ import annotations

from collections.abc import Sequence

from workloads.tables import Batch, Intake, Table
from workloads.tables.intake import Values
from workloads.traces.request_log import counted

_PAIRS = (
    ("input_tokens", "output_tokens"),
    ("prompt_tokens", "output_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("num_prefill_tokens", "num_decode_tokens"),  # Vidur
    ("input_length", "output_length"),
    ("prompt_len", "output_len"),
)


def token_columns(table: Table) -> tuple[str, str] | None:
    """The columns of prompt and output tokens, if a table has a pair of known names."""
    return next((pair for pair in _PAIRS if set(pair) <= set(table.columns)), None)


def token_counts(tables: Sequence[Table], pair: tuple[str, str]) -> Values:
    """Lengths, prompt and output tokens of all rows, in their order.

    Parameters
    ----------
    tables : sequence of Table
        Tables that all have the columns.
    pair : tuple of str
        The columns of prompt and output tokens.

    Returns
    -------
    mapping of str to ndarray of int, shape (rows,)
        ``length``, the sum of ``prompt_tokens`` and ``output_tokens``.

    Raises
    ------
    ValueError
        If there is no row, or a row breaks a rule.
    """

    def rows(batch: Batch) -> Values:
        prompt, output = (batch.whole(name, least=0) for name in pair)
        length = counted(batch, prompt, output, "total")
        return {"length": length, "prompt_tokens": prompt, "output_tokens": output}

    intake = Intake(tables)
    return intake.columns(intake.names(pair, ()), rows)

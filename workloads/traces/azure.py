"""The Azure LLM inference traces of 2023 and 2024.

Patel et al., "Splitwise: Efficient generative LLM inference using phase splitting", ISCA 2024, and
Stojkovic et al., "DynamoLLM", HPCA 2025. Each row is a request: its stamp, the tokens of its prompt
and of its answer. The traces of 2023 have local stamps with seven fractional digits, CRLF line ends
and none at the end of the file; those of 2024 have an offset from UTC and six digits, or none on a
whole second.
"""

from __future__ import annotations

from collections.abc import Callable

from workloads.tables import Batch
from workloads.traces.request_log import Log, LogFormat
from workloads.traces.stamps import Stamps


def _rows() -> Callable[[Batch], Log]:
    stamps = Stamps()

    def rows(batch: Batch) -> Log:
        return Log(
            stamp=stamps.read(batch, "TIMESTAMP"),
            prompt=batch.whole("ContextTokens", least=0),
            output=batch.whole("GeneratedTokens", least=0),
        )

    return rows


FORMAT = LogFormat(
    name="azure",
    summary="Azure LLM inference traces 2023 and 2024 (CSV)",
    columns=("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    rows=_rows,
)

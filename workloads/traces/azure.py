"""The Azure LLM inference traces of 2023 and 2024, and the multimodal one.

Patel et al., "Splitwise: Efficient generative LLM inference using phase splitting", ISCA 2024, and
Stojkovic et al., "DynamoLLM", HPCA 2025. The traces of 2023 have local stamps with seven fractional
digits, CRLF line ends and none at the end of the file; those of 2024 have an offset from UTC and six
digits, or none on a whole second. In the multimodal one images are counted, but not as tokens.
inference-perf replays files of the same columns that may lack their names.
"""

from __future__ import annotations

from dataclasses import replace

from workloads.traces.request_log import LogFormat
from workloads.traces.stamps import dates

AZURE = LogFormat(
    name="azure",
    summary="Azure LLM inference traces 2023 and 2024 (CSV)",
    time="TIMESTAMP",
    clock=dates,
    prompt="ContextTokens",
    output="GeneratedTokens",
)

MULTIMODAL = replace(
    AZURE,
    name="azure-multimodal",
    summary="Azure multimodal inference trace, images apart (CSV)",
    marks=("NumImages",),
)

INFERENCE_PERF = replace(
    AZURE,
    name="inference-perf",
    summary="columns of the Azure traces, perhaps without their names (CSV)",
    bare=True,
    by_name_only=True,
)

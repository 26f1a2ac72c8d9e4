"""The public traces themselves, against what is known of them from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from serving_sim import Workload
from serving_sim.columns import IntArray
from workloads import read_requests
from workloads.report import ReadReport


class Tokens(NamedTuple):
    """What is known of a count of tokens."""

    mean: float
    median: float
    largest: int

    def check(self, tokens: IntArray | None) -> None:
        assert tokens is not None
        # Known to six digits or two decimals.
        assert np.mean(tokens) == pytest.approx(self.mean, rel=5e-6, abs=0.0051)
        assert np.median(tokens) == self.median
        assert np.max(tokens) == self.largest


class Facts(NamedTuple):
    """What is known of a trace: seconds, tokens, and the most requests on one stamp."""

    path: str
    format: str
    rows: int
    span: float
    longest_gap: float
    most_at_once: int
    prompt: Tokens
    output: Tokens
    total: Tokens


def load(shared: Path, path: str, **options: object) -> tuple[Workload, ReadReport]:
    file = shared / "traces" / path
    if not file.exists():
        pytest.skip(f"no {file}")
    return read_requests(file, **{"time_unit": 1, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "facts",
    [
        Facts(
            "azure2023/AzureLLMInferenceTrace_code.csv",
            "azure",
            8819,
            3435.95,
            217.169,
            1,
            Tokens(2047.85, 1469, 7437),
            Tokens(27.88, 13, 1899),
            Tokens(2075.73, 1493, 7841),
        ),
        Facts(
            "azure2023/AzureLLMInferenceTrace_conv.csv",
            "azure",
            19366,
            3501.72,
            4.315,
            1,
            Tokens(1154.70, 1020, 14050),
            Tokens(211.13, 129, 1000),
            Tokens(1365.82, 1412, 14089),
        ),
        Facts(
            "burstgpt/BurstGPT_3.first57.csv",
            "burstgpt",
            57,
            14736,
            1882,
            1,
            Tokens(712.02, 252, 5866),
            Tokens(272.02, 175, 879),
            Tokens(984.04, 509, 6225),
        ),
        Facts(
            "mooncake/conversation_trace.jsonl",
            "mooncake",
            12031,
            3537,
            3.003,
            28,
            Tokens(12035.1, 6909, 126195),
            Tokens(342.62, 350, 2000),
            Tokens(12377.7, 7255, 126527),
        ),
        Facts(
            "vtc_arena/real_trace.csv",
            "arena",
            1500,
            600,
            4.539,
            1,
            Tokens(136.27, 40, 1021),
            Tokens(256.2, 211, 977),
            Tokens(392.46, 348.5, 1657),
        ),
    ],
    ids=lambda facts: facts.path,
)
def test_counts_times_and_tokens(shared: Path, facts: Facts) -> None:
    workload, report = load(shared, facts.path)
    assert (report.format, report.rows_read, report.kept) == (facts.format, facts.rows, facts.rows)
    assert workload.release[-1] == pytest.approx(facts.span, abs=0.005)
    assert np.diff(workload.release).max() == pytest.approx(facts.longest_gap, abs=0.0005)
    assert np.unique(workload.release, return_counts=True)[1].max() == facts.most_at_once
    facts.prompt.check(workload.prompt_tokens)
    facts.output.check(workload.output_tokens)
    facts.total.check(workload.length)


def test_burstgpt_without_its_failed_requests(shared: Path) -> None:
    """17 of 400 rows have no tokens; the rest must hold all of them."""
    workload, report = load(shared, "burstgpt/BurstGPT_1.first400.csv", on_bad_row="drop")
    assert (report.rows_read, report.kept) == (400, 383)
    assert sum(report.dropped.values()) == 17
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    assert workload.prompt_tokens.sum() == pytest.approx(520.47 * 400, abs=0.005 * 400)
    assert workload.output_tokens.sum() == pytest.approx(276.53 * 400, abs=0.005 * 400)
    assert workload.length.max() == 3217
    assert workload.release[-1] == 37269
    assert np.diff(workload.release).max() == 6651
    assert workload.model is not None
    assert set(workload.model) == {"ChatGPT", "GPT-4"}


def test_the_arena_has_27_unequal_clients(shared: Path) -> None:
    workload, _ = load(shared, "vtc_arena/real_trace.csv")
    assert workload.tenant is not None
    _, requests = np.unique(workload.tenant.astype(str), return_counts=True)
    assert (len(requests), requests.max()) == (27, 296)

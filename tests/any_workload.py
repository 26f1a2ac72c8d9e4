"""Workloads of every size and scale, for properties that must hold of all."""

from __future__ import annotations

from hypothesis import strategies as st

from serving_sim import Workload


@st.composite
def any_workload(draw: st.DrawFn, least: int = 1, longest: int = 2**61) -> Workload:
    """Releases and lengths of any size, with ties."""
    n = draw(st.integers(least, least + 60))
    largest = draw(st.sampled_from([1.0, 1e3, 1e9, 1e300]))
    most = draw(st.sampled_from([1, 9, 10**6, longest]))

    def column(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=n, max_size=n))

    release = column(st.floats(0, largest) | st.sampled_from([0.0, largest / 3]))
    prompt, output = column(st.integers(0, most)), column(st.integers(1, most))
    length = [one + other for one, other in zip(prompt, output, strict=True)]
    tokens = {"prompt_tokens": prompt, "output_tokens": output} if draw(st.booleans()) else {}
    return Workload(release, length, **tokens)

"""Clients in one stream: their facts, their requests, their file."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal
from scipy import stats

from workloads import Client, Superposition, parse_lengths, read_clients

CHAT, BATCH = parse_lengths("geometric:mean=20"), parse_lengths("fixed:length=300")
TWO = Superposition([Client("chat", 0.3, CHAT), Client("batch", 0.1, BATCH, burstiness=0.25)])
MANY = Superposition(Client(f"client {place}", 0.08, CHAT, burstiness=0.2) for place in range(10))


def test_facts_by_hand() -> None:
    assert TWO.rate == pytest.approx(0.4)
    assert TWO.mean_length == pytest.approx(90)
    assert TWO.dispersion == pytest.approx(0.75 * 1 + 0.25 * 4)
    assert Superposition([Client("one", 3, CHAT, burstiness=0.25)]).scv == pytest.approx(4, rel=1e-6)
    assert Superposition([Client("a", 3, CHAT), Client("b", 1, CHAT)]).scv == pytest.approx(1, rel=1e-9)
    # two clients with one gap in all, split in half: Erlang gaps (shape 2) each; by hand from E[V]:
    # P(V_i > t) = (1 + t) exp(-2 t) with gaps of mean 1, so E[V] = 1/4 + 2/16 + 2/64
    erlang = Superposition([Client("a", 1, CHAT, burstiness=2), Client("b", 1, CHAT, burstiness=2)])
    assert erlang.scv == pytest.approx(4 * (1 / 4 + 2 / 16 + 2 / 64) - 1, rel=1e-9)


def test_more_bursty_clients_look_more_like_poisson_from_gap_to_gap_but_not_over_long_times() -> None:
    more = Superposition(Client(f"client {place}", 0.002, CHAT, burstiness=0.2) for place in range(400))
    assert 5 > MANY.scv > more.scv > 1
    assert more.scv < 1.7
    assert MANY.dispersion == more.dispersion == pytest.approx(5)


@pytest.mark.parametrize("mix", [TWO, MANY], ids=["two", "many"])
def test_stream_has_the_facts_it_states(mix: Superposition) -> None:
    sections, most = 25, stats.t.ppf(1 - 1e-5 / 2, 24)  # an interval that misses once in 100,000 times
    gaps = np.diff(mix.workload(100_001, seed=1).release).reshape(sections, -1)
    for parts, stated in (
        (gaps.mean(axis=1), 1 / mix.rate),
        ((gaps**2).mean(axis=1) * mix.rate**2, 1 + mix.scv),
    ):
        assert abs(parts.mean() - stated) < most * parts.std(ddof=1) / math.sqrt(sections)
    window, windows = 250 / mix.rate, 1000
    release = mix.workload(280_000, seed=2).release
    assert release[-1] > window * windows
    counts = np.histogram(release, bins=window * np.arange(windows + 1))[0]
    assert counts.var() / counts.mean() == pytest.approx(mix.dispersion, rel=5 * math.sqrt(2 / windows))


def test_every_client_keeps_its_rate_gaps_and_lengths() -> None:
    workload = TWO.workload(100_000, seed=3)
    assert (np.diff(workload.release) >= 0).all()
    assert workload.tenant is not None
    for client in TWO.clients:
        own = workload.tenant == client.name
        share = client.rate / TWO.rate
        assert own.mean() == pytest.approx(share, abs=5 * 2 * math.sqrt(share * (1 - share) / 100_000))
        gaps = np.diff(workload.release[own], prepend=0.0)
        expected = stats.gamma(client.burstiness, scale=1 / (client.rate * client.burstiness))
        assert stats.kstest(gaps, expected.cdf).pvalue > 1e-4
        assert workload.length[own].mean() == pytest.approx(client.lengths.mean, rel=0.03)


def test_a_client_more_leaves_the_others_as_they_are() -> None:
    more = Superposition([*TWO.clients, Client("third", 0.5, CHAT)]).workload(4000, seed=4)
    less = TWO.workload(2000, seed=4)
    assert more.tenant is not None
    assert less.tenant is not None
    kept = more.tenant != "third"
    count = min(kept.sum(), 1000)
    np.testing.assert_array_equal(more.release[kept][:count], less.release[:count])
    np.testing.assert_array_equal(more.tenant[kept][:count], less.tenant[:count])
    chats = (more.length[more.tenant == "chat"], less.length[less.tenant == "chat"])
    assert len(chats[0]) > 0
    assert not np.array_equal(less.release, TWO.workload(2000, seed=5).release)


def test_at_rate() -> None:
    faster = TWO.at_rate(1.6)
    assert [client.rate for client in faster.clients] == pytest.approx([1.2, 0.4])
    assert faster.scv == pytest.approx(TWO.scv)
    np.testing.assert_allclose(faster.workload(100, 1).release * 4, TWO.workload(100, 1).release)


def write(folder: Path, text: str) -> Path:
    path = folder / "clients.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_clients(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [[client]]
        name = "chat"
        rate = 0.3
        lengths = "geometric:mean=20"

        [[client]]
        name = "batch"
        rate = 0.1
        burstiness = 0.25
        lengths = "fixed:length=300"
        """,
    )
    assert read_clients(path) == TWO
    path.write_text(
        "\ufeff" + path.read_text(encoding="utf-8"), encoding="utf-8"
    )  # as some editors begin a file
    assert read_clients(path) == TWO


ENTRY = "[[client]]\nname = 'a'\nrate = 1\nlengths = 'fixed:length=3'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "clients: at least one is needed, found none"),
        ("rate = 1", "table='rate': is unknown; known: client"),
        ("client = 3", "client=3: must be tables, each under [[client]]"),
        ("[[client]]", "client 1: needs name = .., rate = .., lengths = .."),
        (ENTRY + ENTRY, "name='a': must be unique, two clients have it"),
        (
            ENTRY + "burstyness = 1",
            (
                "client 1: key='burstyness': is unknown; did you mean 'burstiness'? "
                "known: name, rate, lengths, burstiness"
            ),
        ),
        (ENTRY.replace("= 1", "= -1"), "client 1: rate=-1.0: must be a finite number > 0"),
        (ENTRY.replace("= 1", f"= 1{'0' * 400}"), f"client 1: rate=1{'0' * 400}: must be a finite number"),
        (ENTRY + "burstiness = " + "[" * 5000, "is no TOML: is nested too deeply"),
        (ENTRY.replace("= 1", "= true"), "client 1: rate=True: must be a finite number"),
        (ENTRY.replace("'a'", "7"), "client 1: name=7: must be a text in quotes"),
        (ENTRY.replace("'a'", "''"), "client 1: name='': must not be empty"),
        (ENTRY + "burstiness = 0", "client 1: burstiness=0.0: must be a finite number > 0"),
        (
            ENTRY + ENTRY.replace("fixed:length=3", "fixed").replace("'a'", "'b'"),
            "client 2: fixed: needs length=..",
        ),
        ("[[client", "is no TOML: Expected ']]' at the end of an array declaration (at end of document)"),
    ],
)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    assert refusal(lambda: read_clients(path)) == f"{path}: {message}"


def test_refuses_no_requests_and_no_rate() -> None:
    assert refusal(lambda: TWO.workload(0, 1)) == "n=0: must be a whole number >= 1"
    assert refusal(lambda: TWO.at_rate(0)) == "rate=0: must be a finite number > 0"


def test_bursty_clients_do_not_begin_together() -> None:
    """E[N(0, t)] = rate t from the start, as clients have sent requests for ever (Cox 1962)."""
    clients = [Client(f"client {place}", 0.001, CHAT, burstiness=0.01) for place in range(1000)]
    runs, span = 20, 200.0
    counts = [
        int(np.searchsorted(Superposition(clients).workload(2000, seed).release, span))
        for seed in range(runs)
    ]
    assert max(counts) < 2000  # none was cut short
    error = np.std(counts, ddof=1) / math.sqrt(runs)
    assert error < 0.2 * span
    assert abs(np.mean(counts) - span) < stats.t.ppf(1 - 1e-5 / 2, runs - 1) * error


def test_the_first_gap_is_the_rest_of_a_gap() -> None:
    """P(residual > t) = rate E[(X - t)^+]; for gamma gaps of shape 2 and mean 1, (1 + t) exp(-2 t)."""
    firsts = [
        Superposition([Client("a", 1, CHAT, burstiness=2)]).workload(1, s).release[0] for s in range(2000)
    ]
    assert stats.kstest(firsts, lambda t: 1 - (1 + t) * np.exp(-2 * t)).pvalue > 1e-4


def test_a_shorter_stream_is_the_start_of_a_longer_one() -> None:
    long = MANY.workload(5000, seed=6)
    for n in (1, 2, 37, 1000):
        np.testing.assert_array_equal(MANY.workload(n, seed=6).release, long.release[:n])


def test_memory_grows_with_the_requests_not_with_clients_times_requests() -> None:
    mix = Superposition(Client(f"client {place}", 0.01, CHAT, burstiness=0.5) for place in range(300))
    tracemalloc.start()
    try:
        mix.workload(20_000, seed=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 * 20_000 * 8 / 4  # a float for each client and request would take four times this


PARTS = parse_lengths("prompt-output:prompt=10+20,output=1+5")


def test_prompts_and_outputs_of_the_clients_are_told_where_all_draw_them() -> None:
    workload = Superposition([Client("a", 1, PARTS), Client("b", 2, PARTS)]).workload(200, seed=7)
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    assert workload.prompt_tokens.min() >= 10
    np.testing.assert_array_equal(workload.prompt_tokens + workload.output_tokens, workload.length)
    mixed = Superposition([Client("a", 1, PARTS), Client("b", 2, CHAT)]).workload(200, seed=7)
    assert mixed.prompt_tokens is None
    assert mixed.output_tokens is None

"""The border: what a workload refuses, and its exact sums."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from serving_sim import Workload
from serving_sim.request import exact_sum, intrinsic_work

BLURRED = "must not change as a float, as whole numbers beyond 2**53 can; subtract the first from all"


@pytest.mark.parametrize("release", [[2**53, 2**60], np.array([2**53, 2**60], object), [2.0**53, 2.0**60]])
def test_whole_releases_that_are_floats_are_taken(release: list[int]) -> None:
    assert Workload(release, [1, 1]).release.tolist() == [2**53, 2**60]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"release": [0, -1], "length": [1, 1]}, "release[1]=-1.0: must be a finite number >= 0"),
        ({"release": [0, np.nan], "length": [1, 1]}, "release[1]=nan: must be a finite number >= 0"),
        ({"release": [np.inf], "length": [1]}, "release[0]=inf: must be a finite number >= 0"),
        ({"release": [0], "length": [0]}, "length[0]=0: must be a whole number from 1 to 2**62"),
        ({"release": [0], "length": [1.5]}, "length[0]=1.5: must be a whole number from 1 to 2**62"),
        ({"release": [0], "length": [0.0]}, "length[0]=0.0: must be a whole number from 1 to 2**62"),
        ({"release": [0], "length": [2**63]}, f"length[0]={2**63}: must be a whole number from 1 to 2**62"),
        ({"release": [0], "length": ["1"]}, "length: must hold whole numbers, found <U1 values"),
        ({"release": [0], "length": [True]}, "length: must hold whole numbers, found bool values"),
        ({"release": [0], "length": [None]}, "length[0]=None: must be a whole number from 1 to 2**62"),
        ({"release": [0], "length": [2**70]}, f"length[0]={2**70}: must be a whole number from 1 to 2**62"),
        ({"release": ["0"], "length": [1]}, "release: must hold numbers, found <U1 values"),
        ({"release": [False], "length": [1]}, "release: must hold numbers, found bool values"),
        ({"release": [0j], "length": [1]}, "release: must hold numbers, found complex128 values"),
        ({"release": [0, None], "length": [1, 1]}, "release[1]=None: must be a finite number >= 0"),
        ({"release": [10**400], "length": [1]}, f"release[0]={10**400}: must be a finite number >= 0"),
        (
            {"release": [17 * 10**17, 17 * 10**17 + 10], "length": [1, 1]},
            f"release[1]={17 * 10**17 + 10}: {BLURRED}",
        ),
        ({"release": np.array([2**64 - 1], np.uint64), "length": [1]}, f"release[0]={2**64 - 1}: {BLURRED}"),
        ({"release": [10**30], "length": [1]}, f"release[0]={10**30}: {BLURRED}"),
        (
            {"release": np.array(["2026-01-01"], "datetime64[s]"), "length": [1]},
            "release: must hold numbers, found datetime64[s] values",
        ),
        (
            {"release": np.array([5], "timedelta64[s]"), "length": [1]},
            "release: must hold numbers, found timedelta64[s] values",
        ),
        (
            {"release": [timedelta(seconds=5)], "length": [1]},
            "release[0]=datetime.timedelta(seconds=5): must be a finite number >= 0",
        ),
        (
            {"release": np.ma.array([0, 1], mask=[False, True]), "length": [1, 1]},
            "release[1]: must be there, it is masked",
        ),
        (
            {"release": [0, 1], "length": np.ma.array([1, 1], mask=[True, False])},
            "length[0]: must be there, it is masked",
        ),
        (
            {"release": [0, [1]], "length": [1, 1]},
            "release: must be one-dimensional, found a nested sequence",
        ),
        ({"release": {0: 1}, "length": [1]}, "release: must be one-dimensional, found shape ()"),
        ({"release": [0], "length": [1], "tenant": [None]}, "tenant[0]=None: must be a text"),
        ({"release": [0], "length": [1], "request_id": [0.5]}, "request_id[0]=0.5: must be a text"),
        ({"release": [], "length": []}, "release: at least one request is needed, found none"),
        ({"release": [0, 0], "length": [1]}, "length: must have one value per release, found 1 for 2"),
        (
            {"release": [0], "length": np.array([], object)},
            "length: must have one value per release, found 0 for 1",
        ),
        (
            {"release": np.array([], object), "length": np.array([], object)},
            "release: at least one request is needed, found none",
        ),
        ({"release": [[0]], "length": [1]}, "release: must be one-dimensional, found shape (1, 1)"),
        ({"release": [0], "length": [3], "lower": [4]}, "lower[0]=4: must not exceed the length"),
        ({"release": [0], "length": [3], "upper": [2]}, "upper[0]=2: must not be below the length"),
        (
            {"release": [0], "length": [3], "prompt_steps": [4]},
            "prompt_steps[0]=4: must not exceed the length",
        ),
        (
            {"release": [0, 0, 0], "length": [1, 1, 1], "request_id": ["a", "b", "a"]},
            "request_id[2]='a': must be unique, row 0 has it too",
        ),
        (
            {"release": [0], "length": [3], "prompt_tokens": [-1]},
            "prompt_tokens[0]=-1: must be a whole number from 0 to 2**62",
        ),
    ],
)
def test_every_rule_has_its_line(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011  (the whole line is compared)
        Workload(**columns)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("name", "least"),
    [("prompt_tokens", 0), ("output_tokens", 0), ("lower", 1), ("upper", 1), ("prompt_steps", 0)],
)
def test_a_column_of_whole_numbers_is_named_with_its_least(name: str, least: int) -> None:
    message = rf"^{name}\[1\]={least - 1}: must be a whole number from {least} to 2\*\*62$"
    with pytest.raises(ValueError, match=message):
        Workload([0, 0], [1, 1], **{name: [1, least - 1]})


@pytest.mark.parametrize("name", ["request_id", "tenant", "model"])
def test_a_column_of_texts_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}\[0\]=0\.5: must be a text$"):
        Workload([0], [1], **{name: [0.5]})


def test_columns_are_copies_that_nobody_can_change() -> None:
    release, length, tenant = np.array([0.0, 0.5]), np.array([3, 4]), np.array(["a", "b"], object)
    workload = Workload(release, length, tenant=tenant)
    release[0], length[0], tenant[0] = 99.0, 99, "z"
    assert workload.release.tolist() == [0.0, 0.5]
    assert workload.length.tolist() == [3, 4]
    assert workload.tenant is not None
    assert workload.tenant.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="read-only"):
        workload.length[0] = 5


def test_parts_and_wholes_cannot_be_changed_either() -> None:
    workload = Workload([1, 0], [3, 4], prompt_tokens=[1, 2], tenant=["a", "b"])
    assert workload.arrival_order is not None
    assert workload.first_token_step is not None
    assert not workload.arrival_order.flags.writeable
    assert not workload.first_token_step.flags.writeable
    for made in (workload.take(np.array([1, 0])), Workload.joined([workload, workload])):
        for column in (made.release, made.length, made.prompt_tokens, made.tenant):
            assert column is not None
            with pytest.raises(ValueError, match="read-only"):
                column[0] = column[1]
        assert Workload(made.release, made.length).length is made.length  # so no copy is needed


def test_columns_that_nobody_can_write_are_kept_without_a_copy() -> None:
    release, length = np.array([0.0, 1.0]), np.array([3, 4])
    release.flags.writeable = length.flags.writeable = False
    workload = Workload(release, length)
    assert workload.release is release
    assert workload.length is length
    behind = np.array([3, 4])
    view = behind[:]
    view.flags.writeable = False
    workload = Workload(release, view)
    behind[0] = 9
    assert workload.length.tolist() == [3, 4]


def test_whole_floats_are_whole_numbers() -> None:
    assert Workload([0], [3.0]).length.tolist() == [3]


def test_numbers_may_come_as_objects() -> None:
    workload = Workload(
        np.array([0, 0.5], object),
        np.array([1, np.int32(4)], object),
        request_id=np.array(["a\0", 7], object),
    )
    assert workload.release.tolist() == [0.0, 0.5]
    assert workload.length.tolist() == [1, 4]
    assert workload.request_id is not None
    assert workload.request_id.tolist() == ["a\0", "7"]


def test_zeros_at_the_end_of_a_text_are_kept() -> None:
    workload = Workload([0, 0], [1, 1], request_id=["a\0", "a"])
    assert workload.request_id is not None
    assert workload.request_id.tolist() == ["a\0", "a"]


def test_first_token_follows_the_steps_of_the_prompt_where_they_are_known() -> None:
    chunked = Workload([0] * 3, [5, 2, 2], prompt_tokens=[9, 9, 0], prompt_steps=[2, 2, 0])
    assert chunked.first_token_step.tolist() == [3, 1, 1]  # type: ignore[union-attr]


def test_first_token_counts_the_prompt_only_where_the_length_does() -> None:
    both = {"prompt_tokens": [4, 4, 4], "output_tokens": [3, 7, 0]}
    assert Workload([0] * 3, [7, 7, 4], **both).first_token_step.tolist() == [5, 1, 1]  # type: ignore[union-attr]
    prompt_only = Workload([0] * 2, [7, 4], prompt_tokens=[4, 4])
    assert prompt_only.first_token_step.tolist() == [5, 1]  # type: ignore[union-attr]
    assert Workload([0], [7]).first_token_step is None


@pytest.mark.parametrize("times", [1, 10])  # few numbers, and many
def test_sums_beyond_64_bits_are_exact(times: int) -> None:
    length = np.array([2**62, 2**62, 2**62, 1] * times, dtype=np.int64)
    assert exact_sum(length) == times * (3 * 2**62 + 1)
    assert intrinsic_work(length) == times * (3 * (2**62 * (2**62 + 1) // 2) + 1)
    small = np.array([2**31 - 1] * 5 * times, dtype=np.int64)
    assert intrinsic_work(small) == times * 5 * ((2**31 - 1) * 2**31 // 2)


def test_arrival_order_is_by_release_then_input() -> None:
    workload = Workload([2.0, 1.0, 2.0, 0.0], [1, 2, 3, 4])
    assert workload.arrival_order is not None
    assert workload.arrival_order.tolist() == [3, 1, 0, 2]
    assert [part.length.tolist() for part in workload.blocks()] == [[4, 2, 1, 3]]
    assert Workload([0, 0, 1], [1, 2, 3]).arrival_order is None


@pytest.mark.parametrize(
    "lengths",
    [
        np.array([3.0, 4.0]),
        np.array([3.0, 4.0], np.float16),
        np.array([3.0, 4.0], np.float32),
        np.array([3.0, np.float16(4)], object),
        np.array([Fraction(3), 4], object),
    ],
    ids=lambda lengths: str(lengths.dtype),
)
def test_whole_floats_are_fine_in_columns_of_any_kind(lengths: Any) -> None:  # noqa: ANN401
    length = Workload(np.zeros(2, lengths.dtype), lengths).length
    assert (length.tolist(), length.dtype) == ([3, 4], np.dtype(np.int64))


@pytest.mark.parametrize("value", [3.5, np.inf, np.nan, np.float16(0.5), Fraction(7, 2)])
def test_a_broken_count_of_any_kind_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"^length\[1\]=.*: must be a whole number from 1 to 2\*\*62$"):
        Workload([0, 0], np.array([3, value], object))


@pytest.mark.parametrize(
    "renew",
    [copy.copy, copy.deepcopy, lambda workload: pickle.loads(pickle.dumps(workload))],  # noqa: S301
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_cannot_be_written_either(renew: Callable[[Workload], Workload]) -> None:
    original = Workload([1, 0], [3, 4], tenant=["a", "b"], prompt_tokens=[1, 1])
    assert (original.arrival_order is not None, original.total_length) == (True, 7)  # kept from now on
    again = renew(original)
    for name in (*again.columns, "arrival_order", "first_token_step"):
        assert getattr(again, name).tolist() == getattr(original, name).tolist()
        with pytest.raises(ValueError, match="read-only"):
            getattr(again, name)[0] = 9
    assert again.total_length == 7

"""Requests as validated columns: what arrives, before anything happens to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from serving_sim.columns import FloatArray, IntArray, TextArray, instants, refuse, texts, whole_numbers

__all__ = ["FloatArray", "IntArray", "TextArray", "Workload", "exact_sum", "intrinsic_work"]

_FEW = 16
"""Numbers that Python adds up faster than numpy, and exactly; a reactive source releases one at a time."""


@dataclass(frozen=True, eq=False, init=False)
class Workload:
    """A finite set of requests, one row each, in input order.

    Parameters
    ----------
    release : array_like of float, shape (n,)
        Instant at which each request becomes known, in time units, finite and >= 0. Rows need not
        be sorted; equal releases keep input order.
    length : array_like of int, shape (n,)
        Service steps (= tokens) each request needs, whole and >= 1.
    request_id : array_like of str, shape (n,), optional
        Unique names; row numbers are used where absent.
    prompt_tokens, output_tokens : array_like of int, shape (n,), optional
        Whole token counts >= 0 as the log gave them.
    lower, upper : array_like of int, shape (n,), optional
        Prediction interval in tokens, ``1 <= lower <= length <= upper``.
    tenant : array_like of str, shape (n,), optional
        Who sent the request.
    prompt_steps : array_like of int, shape (n,), optional
        Steps of the length that process the prompt, where they are not one a token, whole and >= 0:
        a prompt of 1,000 tokens in chunks of 512 takes 2.
    model : array_like of str, shape (n,), optional
        Which model the request asked for.

    Raises
    ------
    ValueError
        If a column has the wrong shape or a value breaks a rule; the message names column, row,
        value and rule.

    Notes
    -----
    The model counts one token a step (Yao and Zhou, section 2), so a length is a number of steps.

    Arrays are copied, but for numbers of the right type that own their memory and are read-only.
    """

    release: FloatArray
    length: IntArray
    request_id: TextArray | None
    prompt_tokens: IntArray | None
    output_tokens: IntArray | None
    lower: IntArray | None
    upper: IntArray | None
    tenant: TextArray | None
    prompt_steps: IntArray | None
    model: TextArray | None

    def __init__(
        self,
        release: ArrayLike,
        length: ArrayLike,
        *,
        request_id: ArrayLike | None = None,
        prompt_tokens: ArrayLike | None = None,
        output_tokens: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        tenant: ArrayLike | None = None,
        prompt_steps: ArrayLike | None = None,
        model: ArrayLike | None = None,
    ) -> None:
        columns: dict[str, Any] = {
            "release": instants("release", release),
            "length": whole_numbers("length", length, least=1),
            "request_id": _texts_or_none("request_id", request_id),
            "prompt_tokens": _whole_or_none("prompt_tokens", prompt_tokens, least=0),
            "output_tokens": _whole_or_none("output_tokens", output_tokens, least=0),
            "lower": _whole_or_none("lower", lower, least=1),
            "upper": _whole_or_none("upper", upper, least=1),
            "tenant": _texts_or_none("tenant", tenant),
            "prompt_steps": _whole_or_none("prompt_steps", prompt_steps, least=0),
            "model": _texts_or_none("model", model),
        }
        _check_sizes(columns)
        _check_within(columns)
        _check_unique(columns["request_id"])
        for name, column in columns.items():
            object.__setattr__(self, name, None if column is None else _read_only(column))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the columns over from a pickle or a copy, where numpy lets everybody write them."""
        for name, value in state.items():
            object.__setattr__(self, name, _read_only(value) if isinstance(value, np.ndarray) else value)

    def __len__(self) -> int:
        return len(self.length)

    def blocks(self) -> Iterator[Workload]:
        """The workload as an open-loop source: one block, in arrival order."""
        yield self if self.arrival_order is None else self.take(self.arrival_order)

    @cached_property
    def arrival_order(self) -> IntArray | None:
        """Rows in the order (release, input order), or None where they already stand so."""
        if np.all(self.release[1:] >= self.release[:-1]):
            return None
        return _read_only(np.argsort(self.release, kind="stable").astype(np.int64, copy=False))

    def take(self, rows: IntArray) -> Workload:
        """The workload made of the given rows, without checking them again."""
        part = object.__new__(Workload)
        for field in fields(Workload):
            column = getattr(self, field.name)
            object.__setattr__(part, field.name, None if column is None else _read_only(column[rows]))
        return part

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that somebody gave."""
        return tuple([name for name in _COLUMNS if getattr(self, name) is not None])

    def row(self, row: int) -> dict[str, Any]:
        """What is known of one request but its release, by column; what nobody gave is left out."""
        return {name: getattr(self, name)[row] for name in self.columns if name != "release"}

    @classmethod
    def joined(cls, parts: Sequence[Workload]) -> Workload:
        """The rows of several workloads one after the other.

        Raises
        ------
        ValueError
            If a column is present in some parts only, or two parts share a request id.
        """
        whole = object.__new__(cls)
        for field in fields(cls):
            columns = [getattr(part, field.name) for part in parts]
            absent = sum(column is None for column in columns)
            if 0 < absent < len(parts):
                raise ValueError(f"{field.name}: must be present in all parts or in none")
            object.__setattr__(whole, field.name, None if absent else _read_only(np.concatenate(columns)))
        _check_unique(whole.request_id)
        return whole

    @cached_property
    def total_length(self) -> int:
        """Sum of all lengths in tokens (the paper's O), exact."""
        return exact_sum(self.length)

    @cached_property
    def intrinsic(self) -> int:
        """Intrinsic work Q = sum o (o + 1) / 2 (Yao and Zhou, equation 5), exact."""
        return intrinsic_work(self.length)

    @cached_property
    def in_chunks(self) -> bool:
        """Whether a step reads several tokens of a prompt, so that a step of the length is no token."""
        if self.prompt_tokens is None or self.prompt_steps is None:
            return False
        return bool(np.any((self.prompt_steps > 0) & (self.prompt_steps < self.prompt_tokens)))

    @cached_property
    def first_token_step(self) -> IntArray | None:
        """Step, counted from 1, whose end makes the first output token; None means step 1 for all.

        It is ``prompt_steps + 1`` where these steps are known and fewer than the length. Else it is
        ``prompt_tokens + 1`` where the prompt is counted in the length. It is counted when prompt
        and output tokens add up to the length or, with outputs unknown, when the prompt is shorter
        than the length.
        """
        if self.prompt_steps is not None:
            return _read_only(np.where(self.prompt_steps < self.length, self.prompt_steps + 1, 1))
        if self.prompt_tokens is None:
            return None
        if self.output_tokens is None:
            counted = self.prompt_tokens < self.length
        else:
            counted = (self.prompt_tokens + self.output_tokens == self.length) & (self.output_tokens > 0)
        return _read_only(np.where(counted, self.prompt_tokens + 1, 1))

    @cached_property
    def without_output(self) -> IntArray | None:
        """Rows of the requests that are known to make no output token; None where there are none."""
        if self.output_tokens is None or self.output_tokens.all():
            return None
        return _read_only(np.flatnonzero(self.output_tokens == 0))


_COLUMNS = tuple(field.name for field in fields(Workload))


def exact_sum(values: IntArray) -> int:
    """Sum of whole numbers without overflow."""
    if len(values) <= _FEW:
        return sum(values.tolist())
    low = int(np.sum(values & 0xFFFFFFFF, dtype=np.int64))  # below 2**63 up to 2**31 rows
    high = int(np.sum(values >> 32, dtype=np.int64))
    return (high << 32) + low


def intrinsic_work(length: IntArray) -> int:
    """Q = sum o (o + 1) / 2 as an exact Python integer (Yao and Zhou, equation 5)."""
    if (
        len(length) > _FEW and int(length.max()) < 2**31
    ):  # o (o + 1) / 2 fits in int64, so only the sum can overflow
        return exact_sum(length * (length + 1) // 2)
    return sum(o * (o + 1) // 2 for o in length.tolist())


def _read_only(column: NDArray[Any]) -> NDArray[Any]:
    column.flags.writeable = False
    return column


def _whole_or_none(name: str, values: ArrayLike | None, *, least: int) -> IntArray | None:
    return None if values is None else whole_numbers(name, values, least=least)


def _texts_or_none(name: str, values: ArrayLike | None) -> TextArray | None:
    return None if values is None else texts(name, values)


def _check_sizes(columns: dict[str, Any]) -> None:
    count = len(columns["release"])
    if count == 0:
        raise ValueError("release: at least one request is needed, found none")
    for name, column in columns.items():
        if column is not None and len(column) != count:
            raise ValueError(f"{name}: must have one value per release, found {len(column)} for {count}")


def _check_within(columns: dict[str, Any]) -> None:
    length, upper = columns["length"], columns["upper"]
    for name in ("lower", "prompt_steps"):
        if columns[name] is not None:
            refuse(name, columns[name], columns[name] > length, "must not exceed the length")
    if upper is not None:
        refuse("upper", upper, upper < length, "must not be below the length")


def _check_unique(request_id: TextArray | None) -> None:
    if request_id is None or len(set(request_id.tolist())) == len(request_id):
        return
    seen: dict[Any, int] = {}
    for row, name in enumerate(request_id.tolist()):
        first = seen.setdefault(name, row)
        if first != row:
            raise ValueError(f"request_id[{row}]={name!r}: must be unique, row {first} has it too")

"""What arrives in a cell: requests made from distributions, or those of a log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from analysis.pace import check_pace
from analysis.stability import UNKNOWN, WorkRates
from analysis.user_code import code_digests
from serving_sim import StepTime, Workload
from workloads import (
    Arrivals,
    Lengths,
    ReadReport,
    make_workload,
    parse_arrivals,
    parse_lengths,
    rate_for_load,
    read_requests,
)
from workloads.arrivals import ARRIVALS, requests_a_round
from workloads.lengths import LENGTHS
from workloads.own_inputs import note_input
from workloads.regular_file import RULE, may_not_end
from workloads.spec import class_and_paths
from workloads.traces import log_files

Scalar = str | int | float | None


@dataclass(frozen=True)
class Made:
    """Requests made from a length distribution and an arrival process.

    Attributes
    ----------
    lengths, arrivals : str
        As `workloads.parse_lengths` and `workloads.parse_arrivals` read them.
    load : float or None
        Rate as a fraction of slots / mean length.
    request_rate : float or None
        Requests per time unit; None like the load where the process has its own rate.
    num_prompts : int
        Number of requests.
    folder : Path
        Where paths in ``lengths`` begin.
    content : str or None
        Digest of the files that ``lengths`` names: others under the same name are noticed.
    """

    seconds: ClassVar[None] = None
    """Seconds in a time unit: nobody says."""

    lengths: str
    arrivals: str
    load: float | None
    request_rate: float | None
    num_prompts: int
    folder: Path = Path()
    content: str | None = None

    @property
    def coordinates(self) -> dict[str, Scalar]:
        """What tells this source from others of a study."""
        return {
            "lengths": self.lengths,
            "arrivals": self.arrivals,
            "load": self.load,
            "request_rate": self.request_rate,
            "num_prompts": self.num_prompts,
        }

    @property
    def digests(self) -> Mapping[str, str]:
        """Digest of what stands in files, by the text that names them."""
        return {} if self.content is None else {self.lengths: self.content}

    @property
    def definition(self) -> Sequence[Scalar]:
        """What a row depends on beside the coordinates: files and code that these name."""
        lengths, _ = class_and_paths(self.lengths, LENGTHS)
        arrivals, _ = class_and_paths(self.arrivals, ARRIVALS)
        content = () if self.content is None else (self.content,)
        return (*content, *code_digests([lengths, arrivals]))

    def workload(self, seed: np.random.SeedSequence, *, slots: int, step_time: StepTime) -> Workload:
        """The requests of a replication."""
        if lengths_digest(self.lengths, self.folder) != self.content:
            raise ValueError(f"{self.lengths}: has changed since the study was read")
        return make_workload(self.num_prompts, self._lengths(), self._process(slots, step_time), seed)

    def rates(self, *, slots: int, step_time: StepTime) -> WorkRates:
        """What is known of the arriving work."""
        process = self._process(slots, step_time)
        rate: float | None = getattr(process, "rate", None)  # a backlog has none
        offered = None if rate is None else rate * self._lengths().mean
        return WorkRates(
            offered,
            dispersion=getattr(process, "dispersion", None),
            requests_a_round=requests_a_round(process),
        )

    def check_span(self, *, slots: int, step_time: StepTime) -> None:
        """Refuse a rate that no cell could be simulated at.

        Raises
        ------
        ValueError
            If it is no finite number above 0, or so low that the last request comes too late to tell
            steps apart.
        """
        rate: float | None = getattr(self._process(slots, step_time), "rate", None)
        if rate is not None:
            last = self.num_prompts / rate
            check_pace(self._pace(), self.num_prompts, last, slots=slots, step_time=step_time)

    def _pace(self) -> str:
        """The key of the study that says how fast requests come."""
        if self.load is not None:
            return f"load={self.load!r}"
        if self.request_rate is not None:
            return f"request-rate={self.request_rate!r}"
        return f"arrivals={self.arrivals!r}"

    def _lengths(self) -> Lengths:
        return parse_lengths(self.lengths, folder=self.folder)

    def _process(self, slots: int, step_time: StepTime) -> Arrivals:
        rate = self.request_rate
        if self.load is not None:
            mean = self._lengths().mean
            rate = rate_for_load(self.load, slots=slots, mean_length=mean, step_duration=step_time.base)
        return parse_arrivals(self.arrivals, rate=rate)


@dataclass(frozen=True)
class Specified:
    """Requests made as a specification says: `workload fit` writes texts too long to tell cells apart.

    Attributes
    ----------
    name : str
        The specification, as the study names it.
    made : Made
        What it says.
    file : str
        Digest of its file.
    seconds : float or None
        How long a time unit is, where it says so; no number of a cell depends on it.
    """

    name: str
    made: Made
    file: str
    seconds: float | None = None

    @property
    def coordinates(self) -> dict[str, Scalar]:
        """The name in the place of lengths and arrivals."""
        made = self.made.coordinates
        return {
            "workload": self.name,
            **{key: value for key, value in made.items() if key not in ("lengths", "arrivals")},
        }

    @property
    def digests(self) -> Mapping[str, str]:
        """Digest of the specification by its name, and of what its lengths are drawn from."""
        return {self.name: self.file, **self.made.digests}

    @property
    def definition(self) -> Sequence[Scalar]:
        """What the name stands for: another specification under the same name is noticed."""
        return (self.made.lengths, self.made.arrivals, *self.made.definition)

    def workload(self, seed: np.random.SeedSequence, *, slots: int, step_time: StepTime) -> Workload:
        """The requests of a replication."""
        return self.made.workload(seed, slots=slots, step_time=step_time)

    def rates(self, *, slots: int, step_time: StepTime) -> WorkRates:
        """What is known of the arriving work."""
        return self.made.rates(slots=slots, step_time=step_time)

    def check_span(self, *, slots: int, step_time: StepTime) -> None:
        """Refuse a rate that no cell could be simulated at, as `Made.check_span` does."""
        self.made.check_span(slots=slots, step_time=step_time)


@dataclass(frozen=True)
class Logged:
    """The requests of a log.

    Attributes
    ----------
    name : str
        The file, or a pattern for several, as the study names it.
    path : Path
        Where it is.
    content : str
        Digest of what the files hold: others under the same name are noticed.
    format, length, time_unit, on_bad_row
        How it is read, as in `workloads.read_requests`.
    """

    name: str
    path: Path
    content: str
    format: str = "auto"
    length: Literal["total", "output", "prompt"] = "total"
    time_unit: float | None = None
    on_bad_row: Literal["error", "drop"] = "error"

    @property
    def coordinates(self) -> dict[str, Scalar]:
        """What tells this source from others of a study."""
        return {"requests_file": self.name}

    @property
    def digests(self) -> Mapping[str, str]:
        """Digest of the log by its name."""
        return {self.name: self.content}

    @property
    def definition(self) -> Sequence[Scalar]:
        """What a row depends on beside the coordinates."""
        return (self.content, self.format, self.length, self.time_unit, self.on_bad_row)

    @property
    def in_chunks(self) -> bool:
        """Whether its prompts were in chunks when it was converted; the log is read for it."""
        return _read(self)[0].in_chunks

    @property
    def seconds(self) -> float | None:
        """Seconds in a time unit, as the study says or a converted log, which is read for it."""
        return _read(self)[1].time_unit if self.time_unit is None else self.time_unit

    def workload(self, seed: np.random.SeedSequence, *, slots: int, step_time: StepTime) -> Workload:
        """The requests of the log; nothing is random."""
        return _read(self)[0]

    def rates(self, *, slots: int, step_time: StepTime) -> WorkRates:
        """Nobody knows what would arrive in the long run."""
        return UNKNOWN

    def check_span(self, *, slots: int, step_time: StepTime) -> None:
        """Nothing: a log has no rate that could be too low."""

    def check(self) -> None:
        """Refuse a log that cannot be read.

        Raises
        ------
        ValueError
            As `workloads.read_requests`, which no cell has to find out once more.
        """
        _read(self)


Source = Made | Specified | Logged


def lengths_digest(lengths: str, folder: Path) -> str | None:
    """Digest of the files that lengths are drawn from, None where they are drawn from none."""
    _, paths = class_and_paths(lengths, LENGTHS, folder)
    return " ".join(log_digest(Path(path)) for path in paths) or None


def log_digest(path: Path) -> str:
    """SHA-256, in hexadecimal, of a log or of all logs that match a pattern."""
    digest = hashlib.sha256()
    for file in log_files(path):
        if may_not_end(file):
            raise ValueError(f"requests={str(path)!r}: {RULE}")
        note_input(file)
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


@lru_cache(maxsize=1)  # the policies of a grid take turns on the same log
def _read(log: Logged) -> tuple[Workload, ReadReport]:
    if log_digest(log.path) != log.content:
        raise ValueError(f"{log.name}: has changed since the study was read")
    return read_requests(
        log.path,
        format=log.format,
        length=log.length,
        time_unit=log.time_unit,
        on_bad_row=log.on_bad_row,
    )

"""Option values that are lists: ``50,99``, ``ttft:200,e2el:1000``, ``base=1,per_token=0.01``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from serving_sim import StepTime

if TYPE_CHECKING:
    from analysis.sequential import Target

_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(rf"(\d+\.?\d*|\.\d+)\s*({'|'.join(_SECONDS)})?")


def parse_percentiles(text: str) -> tuple[float, ...]:
    """Percentiles from ``50,90,99.9``.

    Raises
    ------
    ValueError
        If an item is not a number.
    """
    return tuple(_number("percentiles", item) for item in _items(text))


def parse_warmup(text: str) -> int | None:
    """Requests to leave out, None for ``auto``.

    Raises
    ------
    ValueError
        If the text is neither.
    """
    if text == "auto":
        return None
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"warmup={text!r}: must be auto or a whole number >= 0")
    return int(text)


def parse_loads(text: str) -> tuple[float, ...]:
    """Rising loads from ``0.5,0.8,0.9``.

    Raises
    ------
    ValueError
        If an item is not a number above the one before it, the first above 0.
    """
    loads = tuple(_number("loads", item) for item in _items(text))
    for before, load in zip((0.0, *loads), loads, strict=False):
        if not load > before:
            raise ValueError(f"loads={text!r}: must rise from above 0, found {load:g} after {before:g}")
    return loads


def parse_share(text: str) -> float:
    """A share from ``99%``.

    Raises
    ------
    ValueError
        If the text is not a percentage above 0 and at most 100.
    """
    share = _number("attainment", text.removesuffix("%")) if text.endswith("%") else math.nan
    if not 0 < share <= 100:
        raise ValueError(f"attainment={text!r}: must be a percentage above 0% and at most 100%")
    return share / 100


def parse_targets(text: str | None) -> tuple[Target, ...]:
    """Wanted precisions from ``e2el.p99:5%,ttft.mean:2%``.

    Raises
    ------
    ValueError
        If an item does not name a metric, a statistic and a share of it, or names what another does.
    """
    from analysis.sequential import Target

    targets: list[Target] = []
    for item in _items(text) if text is not None else ():
        name, colon, share = item.partition(":")
        metric, dot, statistic = name.partition(".")
        if not (colon and dot and share.endswith("%")):
            raise ValueError(f"until={item!r}: must read METRIC.STATISTIC:NUMBER%, as in e2el.p99:5%")
        if any(target.name == name for target in targets):
            raise ValueError(f"until={item!r}: {name!r} must not come twice")
        targets.append(Target(metric, statistic, _number("until", share.removesuffix("%")) / 100))
    return tuple(targets)


def parse_objectives(text: str | None, option: str = "goodput") -> dict[str, float] | None:
    """Service-level objectives from ``ttft:200,e2el:1000``, the value of ``option``.

    Raises
    ------
    ValueError
        If an item is not a metric with a number.
    """
    if text is None:
        return None
    return _pairs(option, text, ":")


def parse_step_time(text: str | None) -> StepTime:
    """Step time from ``base=..,per_request=..``; coefficients left out are 0.

    Raises
    ------
    ValueError
        If an item does not name a coefficient or all of them are 0.
    """
    if text is None:
        return StepTime()
    known = [field.name for field in fields(StepTime)]
    given = _pairs("step-time", text, "=")
    for name in given:
        if name not in known:
            raise ValueError(f"step-time={name!r}: must be one of {', '.join(known)}")
    return StepTime(**{"base": 0.0, **given})


def parse_window(text: str) -> tuple[float, float]:
    """Two times from ``FROM:TO``; the side left out is open.

    Raises
    ------
    ValueError
        If there are not two sides or one is not a number.
    """
    begin, colon, end = text.partition(":")
    if not colon:
        raise ValueError(f"timeline-window={text!r}: must be FROM:TO, in the time units of the run")
    return (
        _number("timeline-window", begin) if begin.strip() else 0.0,
        _number("timeline-window", end) if end.strip() else math.inf,
    )


def parse_beta(text: str | None) -> float | str | None:
    """A number, or a word that the policy knows."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def parse_duration(option: str, text: str, seconds_per_unit: float | None) -> float:
    """Time units from ``90s``, ``10min``, ``1.5h`` or, without a unit, from time units.

    Parameters
    ----------
    option : str
        What a refusal names.
    text : str
        A number and perhaps ms, s, min, h or d.
    seconds_per_unit : float or None
        Seconds in a time unit where that is known.

    Raises
    ------
    ValueError
        If the text is no such time, or has a unit that time units cannot be counted in.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{option}={text!r}: must be a number with ms, s, min, h, d or no unit, as in 10min")
    value, unit = float(found[1]), found[2]
    if not unit:
        return value
    if seconds_per_unit is None:
        raise ValueError(
            f"{option}={text!r}: must be in time units, --time-unit does not say how long one is"
        )
    return value * _SECONDS[unit] / seconds_per_unit


def check_alike(texts: Mapping[str, str | None]) -> None:
    """Refuse times of which some have a unit and some have none: ``10`` beside ``20min`` is hardly 10 steps.

    A time of 0 is the same in all units.

    Raises
    ------
    ValueError
        If there are both; texts that are no times are left to `parse_duration`.
    """
    units = {
        option: found[2]
        for option, text in texts.items()
        if text is not None and (found := _DURATION.fullmatch(text.strip())) and float(found[1]) != 0
    }
    if any(units.values()) and not all(units.values()):
        option = next(option for option, unit in units.items() if not unit)
        other = next(option for option, unit in units.items() if unit)
        raise ValueError(
            f"{option}={texts[option]!r}: must have a unit, as {other} {texts[other]} has; a number alone "
            "is in time units of --time-unit seconds each"
        )


def _pairs(option: str, text: str, separator: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for item in _items(text):
        name, found, value = item.partition(separator)
        if not found:
            raise ValueError(f"{option}={item!r}: must read NAME{separator}NUMBER")
        if name in pairs:
            raise ValueError(f"{option}={item!r}: {name!r} must not come twice")
        pairs[name] = _number(option, value)
    return pairs


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{option}={text!r}: must be a finite number")
    return value

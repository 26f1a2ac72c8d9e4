"""The text ``NAME:key=value,..`` that names a length distribution or an arrival process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, cast, get_args, get_type_hints

from serving_sim.arguments import unknown
from workloads.registry import Registry


def parse(text: str, registry: Registry, defaults: Mapping[str, object] | None = None) -> object:
    """The dataclass a text names, with the parameters the text gives.

    Parameters
    ----------
    text : str
        ``NAME`` or ``NAME:key=value,key=value``. Values hold no commas.
    registry : Registry
        Dataclasses by name; the annotations of their fields say how values are read.
    defaults : mapping of str to object, optional
        Values for parameters that the text leaves out, where the class has them.

    Raises
    ------
    ValueError
        If the name or a key is unknown, a key comes twice, a parameter is missing, or a value does
        not fit.
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    cls = cast("type", registry.load(name))
    parameters_of = _parameters(cls)
    given = _given(name, rest, parameters_of)
    known = {key: value for key, value in (defaults or {}).items() if key in parameters_of}
    parameters = known | given
    missing = [field.name for field in fields(cls) if _required(field) and field.name not in parameters]
    if missing:
        raise ValueError(f"{name}: needs {', '.join(f'{key}=..' for key in missing)}")
    try:
        return cls(**parameters)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def leaves_open(text: str, registry: Registry, key: str) -> bool:
    """Whether what a text names has a parameter, and the text says nothing of it.

    Raises
    ------
    ValueError
        If the name or a key is unknown, a key comes twice or a value does not fit.
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    parameters_of = _parameters(cast("type", registry.load(name)))
    return key in parameters_of and key not in _given(name, rest, parameters_of)


def _given(name: str, rest: str, parameters: Mapping[str, Callable[[str], object]]) -> dict[str, object]:
    given: dict[str, object] = {}
    for item in filter(None, map(str.strip, rest.split(","))):
        key, equals, raw = map(str.strip, item.partition("="))
        if not equals:
            raise ValueError(f"{name}: {item!r} must be key=value")
        value = _value(name, key, raw, parameters)
        if key in given:
            raise ValueError(f"{name}: {key}={raw!r}: must not come twice")
        given[key] = value
    return given


def _parameters(cls: type) -> dict[str, Callable[[str], object]]:
    hints = get_type_hints(cls)
    return {field.name: _without_none(hints[field.name]) for field in fields(cls) if field.init}


def _without_none(hint: Callable[[str], object]) -> Callable[[str], object]:
    """``T`` for the annotations ``T`` and ``T | None``."""
    return get_args(hint)[0] if get_args(hint) else hint


def _value(name: str, key: str, raw: str, parameters: Mapping[str, Callable[[str], object]]) -> object:
    if key not in parameters:
        raise ValueError(f"{name}: {unknown('parameter', key, parameters)}")
    convert = parameters[key]
    try:
        return convert(raw)
    except ValueError:
        noun = "a whole number" if convert is int else "a number"
        raise ValueError(f"{name}: {key}={raw!r}: must be {noun}") from None


def _required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING

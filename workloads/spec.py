"""The text ``NAME:key=value,..`` that names a length distribution or an arrival process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from serving_sim.arguments import unknown
from serving_sim.by_name import said
from workloads.registry import Registry

PATH: Mapping[str, object] = {"path": True}
"""Metadata of a field that holds the path of a file, or a pattern for several."""


def parse(
    text: str,
    registry: Registry,
    kind: type[Any],
    defaults: Mapping[str, object] | None = None,
    folder: Path | None = None,
) -> object:
    """The dataclass a text names, with the parameters the text gives.

    Parameters
    ----------
    text : str
        ``NAME`` or ``NAME:key=value,key=value``, the name one of the registry or ``module:Class``.
        Values hold no commas.
    registry : Registry
        Dataclasses by name; the annotations of their fields say how values are read.
    kind : type
        Protocol of what all classes of the registry make.
    defaults : mapping of str to object, optional
        Values for parameters that the text leaves out, where the class has them.
    folder : Path, optional
        Where paths in the text begin; the working folder by default.

    Raises
    ------
    ValueError
        If the name or a key is unknown, a key comes twice, a parameter is missing, a value does not
        fit, or a class of somebody else's is no dataclass or none of the kind.
    """
    name, rest = registry.split(text)
    cls = _class(name, registry)
    parameters_of = _parameters(cls, folder)
    given = _given(name, rest, parameters_of)
    known = {key: value for key, value in (defaults or {}).items() if key in parameters_of}
    parameters = known | given
    missing = [field.name for field in fields(cls) if _required(field) and field.name not in parameters]
    if missing:
        raise ValueError(f"{name}: needs {', '.join(f'{key}=..' for key in missing)}")
    try:
        made = cls(**parameters)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    except (Exception, SystemExit) as cause:
        if name in registry.builtin:
            raise
        raise ValueError(f"{name}: cannot be made: {said(cause)}") from cause
    if not isinstance(made, kind):
        raise ValueError(f"{name}: must keep the contract of workloads.{kind.__name__}")  # noqa: TRY004  (bad input)
    return made


def class_and_paths(text: str, registry: Registry, folder: Path | None = None) -> tuple[type, list[str]]:
    """The class that a text names, and the paths that it gives as parameters.

    Raises
    ------
    ValueError
        If the name or a key is unknown, a key comes twice or a value does not fit.
    """
    name, rest = registry.split(text)
    cls = _class(name, registry)
    given = _given(name, rest, _parameters(cls, folder))
    return cls, [str(given[field.name]) for field in fields(cls) if _is_path(field) and field.name in given]


def leaves_open(text: str, registry: Registry, key: str) -> bool:
    """Whether what a text names has a parameter, and the text says nothing of it.

    Raises
    ------
    ValueError
        If the name or a key is unknown, a key comes twice or a value does not fit.
    """
    name, rest = registry.split(text)
    parameters_of = _parameters(_class(name, registry))
    return key in parameters_of and key not in _given(name, rest, parameters_of)


def refuse_modules(key: str, text: str, registry: Registry) -> None:
    """Refuse a text in a file that would choose what code runs: files come from elsewhere.

    Raises
    ------
    ValueError
        If it names ``module:Class``.
    """
    module = registry.module_of(text)
    if module is not None:
        raise ValueError(
            f"{key}={text!r}: runs code of {module}, which a file must not choose; name it yourself"
        )


def _class(name: str, registry: Registry) -> type:
    cls = registry.load(name)
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise ValueError(f"{registry.kind}={name!r}: must be a dataclass, its fields are the parameters")
    return cast("type", cls)


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


def _parameters(cls: type, folder: Path | None = None) -> dict[str, Callable[[str], object]]:
    hints = get_type_hints(cls)
    converters = {field.name: _converter(hints[field.name]) for field in fields(cls) if field.init}
    if folder is not None:
        for field in filter(_is_path, fields(cls)):
            converters[field.name] = lambda raw: str(folder / raw)
    return converters


def _is_path(field: Field[Any]) -> bool:
    return field.metadata.get("path") is True


def _converter(hint: Callable[[str], object]) -> Callable[[str], object]:
    """What reads a value for the annotations ``T`` and ``T | None``."""
    kind = get_args(hint)[0] if get_args(hint) else hint
    return _truth if kind is bool else kind


def _truth(raw: str) -> bool:
    """``bool`` itself would take any text for true."""
    if raw not in ("true", "false"):
        raise ValueError(raw)
    return raw == "true"


def _value(name: str, key: str, raw: str, parameters: Mapping[str, Callable[[str], object]]) -> object:
    if key not in parameters:
        raise ValueError(f"{name}: {unknown('parameter', key, parameters)}")
    convert = parameters[key]
    try:
        return convert(raw)
    except ValueError:
        noun = _NOUNS.get(convert, "a number")
        raise ValueError(f"{name}: {key}={raw!r}: must be {noun}") from None


_NOUNS: Mapping[Callable[[str], object], str] = {int: "a whole number", _truth: "true or false"}


def _required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING

"""Policies by name: built in, installed through entry points, or named as ``module:Class``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from policies.fair import Fair
from serving_sim import Policy
from serving_sim.arguments import check_kind, unknown
from serving_sim.by_name import find_beside_user, in_a_line, is_by_name, load, said

ENTRY_POINTS = "serving_sim.policies"

_BUILT_IN = {
    "fcfs": "policies.continuous:FCFS",
    "sjf": "policies.continuous:SJF",
    "lpt": "policies.continuous:LPT",
    "ljf": "policies.ljf:LJF",
    "isjl": "policies.isjl:ISJL",
    "robust-isjl": "policies.robust:RobustISJL",
    "isjl-as-printed": "policies.as_printed:ISJLAsPrinted",
    "bucketed": "policies.bucketed:Bucketed",
    "fair": "policies.fair:Fair",
    "delayed": "policies.waiting:Delayed",
    "windowed": "policies.waiting:Windowed",
}
_FAIR = "fair-"
_DEEPEST = 10
"""Policies inside each other; reading a text takes time that grows with the square of it."""

_SHOWN = 40  # characters of a text that is too long to repeat

_LISTED_FAIR = ("fair-fcfs", "fair-sjf", "fair-lpt")


@dataclass(frozen=True)
class PolicyEntry:
    """One policy as ``serving-sim policies`` lists it."""

    name: str
    summary: str
    parameters: tuple[str, ...]
    """``name=default``, or ``name`` where a value is required."""
    origin: str
    """``built in`` or the distribution that brings it."""


def make_policy(name: str, **parameters: Any) -> Policy:  # noqa: ANN401  (each policy has its own)
    """A policy by its command-line name.

    Parameters
    ----------
    name : str
        A name of `catalogue`, ``fair-NAME`` for any ordering, or ``module:Class``.
    **parameters
        What the policy's constructor takes. A wrapper's ``inner`` may be a policy or the text of
        one; parameters that the wrapper does not know go to the inner policy.

    Raises
    ------
    ValueError
        If there is no such policy or a parameter is missing, unknown or out of range.

    Examples
    --------
    >>> make_policy("fair-lpt", alpha=4).describe()
    'fair-lpt:alpha=4'
    """
    check_kind("name", name, str, "a text such as 'fcfs'")
    if name.startswith(_FAIR) and name not in _targets():
        inner_name = name.removeprefix(_FAIR)
        shared = "alpha" in _takes(inner_name, parameters)  # refuses an unknown name before all else
        if "alpha" not in parameters:
            raise ValueError(_missing(name, "alpha"))
        alpha = parameters["alpha"]
        if not shared:
            del parameters["alpha"]
        return Fair(make_policy(inner_name, **parameters), alpha)
    build = _load(name)
    known = _parameters(build)
    if "inner" in known and not isinstance(parameters.get("inner"), Policy | None):
        passed_on = {key: value for key, value in parameters.items() if key not in known or key == "alpha"}
        parameters = {key: value for key, value in parameters.items() if key in known}
        parameters["inner"] = parse_policy(str(parameters["inner"]), defaults=passed_on)
    strange = sorted(parameters.keys() - known.keys())
    if strange:
        raise ValueError(f"policy {name}: {unknown('parameter', strange[0], known)}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise ValueError(_missing(name, key))
    return _built(name, build, parameters)


def _missing(name: str, key: str) -> str:
    return f"policy {name}: needs a value for {key}, as in {name}:{key}=.."


def parse_policy(text: str, defaults: Mapping[str, Any] | None = None) -> Policy:
    """The policy that ``NAME[:key=value,..]`` describes.

    ``defaults`` fill in parameters the policy takes and the text does not set. A wrapper's inner
    policy with parameters of its own stands in parentheses: ``delayed:x=0.6,inner=(isjl:alpha=8)``.
    """
    check_kind("text", text, str, "a text such as 'isjl:alpha=4'")
    (name, parameters), *_ = _levels(text)
    for key, value in (defaults or {}).items():
        if key not in parameters and key in _takes(name, parameters):
            parameters[key] = value
    return make_policy(name, **parameters)


def modules_of(text: str) -> set[str]:
    """Modules whose code a text would run because it names them as ``module:Class``.

    Raises
    ------
    ValueError
        If the text cannot be read as one of `parse_policy`.
    """
    names = [name for name, _ in _levels(text) if is_by_name(name)]
    return {name.partition(":")[0] for name in names if name not in _targets()}


def states(text: str, parameter: str) -> bool:
    """Whether a text says a parameter itself, for its policy or for one inside it.

    Raises
    ------
    ValueError
        If the text cannot be read as one of `parse_policy`.
    """
    return any(parameter in parameters for _, parameters in _levels(text))


def _levels(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and parameters of a text and of the policies inside it, the outermost first."""
    inner: Any = text
    for _ in range(_DEEPEST):
        name, parameters = _split(inner)
        yield name, parameters
        inner = parameters.get("inner")
        if not isinstance(inner, str):
            return
    raise ValueError(f"policy {text[:_SHOWN]!r}..: must not nest more than {_DEEPEST} policies")


def catalogue() -> list[PolicyEntry]:
    """All policies known by name, built in first."""
    entries = [_entry(name, origin) for name, (_, origin) in _targets().items()]
    fair = [
        PolicyEntry(
            name,
            f"{name.removeprefix(_FAIR)} behind the admission test A_max <= alpha.",
            ("alpha",),
            "built in",
        )
        for name in _LISTED_FAIR
    ]
    return sorted([*entries, *fair], key=lambda entry: entry.origin != "built in")


def policy_names() -> tuple[str, ...]:
    """Names of all policies, built in first, without loading them."""
    return (*_targets(), *_LISTED_FAIR)


@cache
def _targets() -> dict[str, tuple[str, str]]:
    targets = {name: (target, "built in") for name, target in _BUILT_IN.items()}
    for point in entry_points(group=ENTRY_POINTS):
        origin = point.dist.name if point.dist is not None else "installed"
        if point.name in targets:
            raise ValueError(
                f"policy {point.name!r}: {origin} registers a name that {targets[point.name][1]} already has"
            )
        targets[point.name] = (point.value, origin)
    return targets


def _load(name: str) -> Callable[..., Policy]:
    targets = _targets()
    if name in targets:
        target = targets[name][0]
    elif is_by_name(name):
        target = name
        find_beside_user()
    else:
        raise ValueError(unknown("policy", name, policy_names()))
    try:
        found = load(target)
    except (ImportError, AttributeError) as cause:
        raise ValueError(f"policy {name!r}: cannot load {target}: {in_a_line(cause)}") from cause
    except (Exception, SystemExit) as cause:  # somebody else's module may fail, or end, in any way
        raise ValueError(f"policy {name!r}: cannot load {target}: {said(cause)}") from cause
    if not (inspect.isclass(found) and issubclass(found, Policy)):
        raise ValueError(f"policy {name!r}: {target} must be a class derived from serving_sim.Policy")
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(found.__abstractmethods__))
        raise ValueError(f"policy {name!r}: {target} must define {lacking}")
    return found


def _built(name: str, build: Callable[..., Policy], parameters: Mapping[str, Any]) -> Policy:
    try:
        policy = build(**parameters)
    except (Exception, SystemExit) as cause:
        if name in _BUILT_IN:
            raise
        raise ValueError(f"policy {name!r}: cannot be made: {said(cause)}") from cause
    called = getattr(policy, "name", "")
    if isinstance(called, str) and not called.isprintable():  # tables, pictures and pages show it
        raise ValueError(f"policy {name!r}: its name {called!r} has characters that cannot be shown")
    return policy


def _parameters(build: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(build).parameters


def _takes(name: str, parameters: Mapping[str, Any]) -> set[str]:
    if name.startswith(_FAIR) and name not in _targets():
        return {"alpha", *_takes(name.removeprefix(_FAIR), parameters)}
    known = set(_parameters(_load(name)))
    if isinstance(parameters.get("inner"), str):
        known |= _takes(*_split(parameters["inner"]))
    return known


def _split(text: str) -> tuple[str, dict[str, Any]]:
    head, *rest = text.strip().split(":", 1)
    named = head in _targets() or head.startswith(_FAIR)
    if rest and not named and rest[0].partition(":")[0].isidentifier():  # module:Class
        attribute, *rest = rest[0].split(":", 1)
        head = f"{head}:{attribute}"
    parameters: dict[str, Any] = {}
    for item in _top_level_items(rest[0]) if rest else []:
        key, equals, value = item.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise ValueError(f"policy {text!r}: {item!r} must read key=value")
        if key.strip() in parameters:
            raise ValueError(f"policy {text!r}: {key.strip()!r} is set twice")
        parameters[key.strip()] = _value(value.strip())
    return head, parameters


def _top_level_items(text: str) -> list[str]:
    items, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            items.append(text[begin:place])
            begin = place + 1
    return [*items, text[begin:]]


def _value(text: str) -> int | float | str:
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _entry(name: str, origin: str) -> PolicyEntry:
    build = _load(name)
    summary = (inspect.getdoc(build) or "").partition("\n")[0]
    parameters = tuple(
        key if parameter.default is parameter.empty else f"{key}={parameter.default}"
        for key, parameter in _parameters(build).items()
    )
    return PolicyEntry(name, summary, parameters, origin)

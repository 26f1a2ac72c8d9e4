"""Registries of strings: what is built in or installed, imported only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points

from serving_sim.arguments import unknown
from serving_sim.by_name import find_beside_user, is_by_name, load, said

GROUP = "serving_sim.workloads"
"""Entry-point group; the part before the first dot of an entry's name says which registry it joins."""


@dataclass(frozen=True)
class Registry:
    """Names of one kind of thing, each with the place where it is defined.

    Parameters
    ----------
    kind : str
        What the names stand for, as error messages say it.
    prefix : str
        Installed packages add ``PREFIX.NAME = "module:object"`` to the entry points of ``GROUP``.
    builtin : mapping of str to str
        ``"module:object"`` by name.
    by_name : bool
        Whether users may name classes of their own as ``module:Class``.
    """

    kind: str
    prefix: str
    builtin: Mapping[str, str]
    by_name: bool = False

    @cached_property
    def targets(self) -> dict[str, str]:
        """Where each name is defined: built in first, then installed, by name.

        Raises
        ------
        ValueError
            If an installed package takes a name that is already taken.
        """
        targets = dict(self.builtin)
        for entry in sorted(entry_points(group=GROUP)):
            prefix, _, name = entry.name.partition(".")
            if prefix != self.prefix:
                continue
            if name in targets:
                raise ValueError(
                    f"{self.kind}={name!r}: is defined twice, by {targets[name]} and {entry.value}"
                )
            targets[name] = entry.value
        return targets

    def split(self, text: str) -> tuple[str, str]:
        """Name and parameters of ``NAME:key=value,..``, where the name may be ``module:Class``."""
        name, _, rest = map(str.strip, text.partition(":"))
        attribute, _, parameters = map(str.strip, rest.partition(":"))
        if self._is_by_name(f"{name}:{attribute}"):
            return f"{name}:{attribute}", parameters
        return name, rest

    def module_of(self, text: str) -> str | None:
        """The module whose code a text would run because it names it as ``module:Class``, None without."""
        name, _ = self.split(text)
        return name.partition(":")[0] if self._is_by_name(name) else None

    def _is_by_name(self, name: str) -> bool:
        module, _, _ = name.partition(":")
        return self.by_name and module not in self.targets and is_by_name(name)

    def load(self, name: str) -> object:
        """The object behind a name or behind ``module:Class``.

        Raises
        ------
        ValueError
            If nothing has that name, or what a user or an installed package names cannot be loaded.
        """
        target = self.targets.get(name, name)
        if name not in self.targets:
            if not self._is_by_name(name):
                raise ValueError(unknown(self.kind, name, self.targets))
            find_beside_user()
        try:
            return load(target)
        except (Exception, SystemExit) as cause:
            if name in self.builtin:
                raise
            raise ValueError(f"{self.kind}={name!r}: cannot load {target}: {said(cause)}") from cause

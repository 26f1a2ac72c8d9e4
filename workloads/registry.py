"""Registries of strings: what is built in or installed, imported only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points

from serving_sim.arguments import unknown

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
    """

    kind: str
    prefix: str
    builtin: Mapping[str, str]

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

    def load(self, name: str) -> object:
        """The object behind a name.

        Raises
        ------
        ValueError
            If nothing has that name, or what an installed package names cannot be loaded.
        """
        if name not in self.targets:
            raise ValueError(unknown(self.kind, name, self.targets))
        module, _, attribute = self.targets[name].partition(":")
        try:
            return getattr(import_module(module), attribute)
        except (Exception, SystemExit) as cause:
            if name in self.builtin:
                raise
            said = f"{type(cause).__name__}: {cause}"
            raise ValueError(f"{self.kind}={name!r}: cannot load {self.targets[name]}: {said}") from cause

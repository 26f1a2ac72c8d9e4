"""What the fixture ``command`` of conftest.py is."""

from __future__ import annotations

from collections.abc import Callable

Command = Callable[..., tuple[int, str, str]]
"""Runs the command in this process: exit code, standard output, standard error.

The first argument may hold several words, further ones are a word each.
"""

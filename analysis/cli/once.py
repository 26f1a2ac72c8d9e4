"""Options that take one value are given once: of two values one would be lost without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer._click.core import Context


class OnceCommand(TyperCommand):
    """A command that refuses an option with one value where it comes twice."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the words after the command's name.

        Raises
        ------
        typer.BadParameter
            If an option with one value comes twice.
        """
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        seen: set[TyperOption] = set()
        for option in order:
            if not isinstance(option, TyperOption) or option.multiple or option.is_flag:
                continue
            if option in seen and not ctx.resilient_parsing:  # a shell asks while words are still typed
                raise typer.BadParameter("must be given once, found it twice", ctx, option)
            seen.add(option)
        return super().parse_args(ctx, args)

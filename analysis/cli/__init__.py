"""The command ``serving-sim``."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.cli.console import complain
from analysis.cli.ending import close_shop, files_finished, heeding_signals, last_words
from analysis.cli.streams import drop_unwritable_output, ready_streams

if TYPE_CHECKING:
    from typer._click.core import Command, Context

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``serving-sim``; those of the process by default.

    Returns
    -------
    int
        0 on success, 1 on a failed check, 2 on bad arguments or bad input, 130 on an interruption, 141
        when nobody reads the output any more, 143 on a termination.
    """
    if arguments is None:  # the process is ours
        collect_rarely()
        if not sys.warnoptions:  # and the user's: warnings are for developers
            warnings.simplefilter("ignore")
    words = list(sys.argv[1:] if arguments is None else arguments)
    ready_streams()
    code, message, before = 0, "", files_finished()
    with heeding_signals() as heard:
        try:
            _run(words)
            sys.stdout.flush()  # a failure is told by us, not at the end of Python
        except BaseException as error:  # noqa: BLE001  (whatever it is, a user sees no traceback)
            code, message = last_words(error, heard, files=files_finished() - before)
    if arguments is None:
        close_shop(code)
    if message:
        complain(message)
    drop_unwritable_output()
    return code


def collect_rarely() -> None:
    """Look for garbage rarely: what libraries make lives to the end, and walking it takes a tenth of it."""
    gc.set_threshold(100_000, 50, 50)


def _run(words: list[str]) -> None:
    # here and not above, so that an interruption while libraries load is caught as well
    import typer

    from analysis.cli.app import app

    command = typer.main.get_command(app)
    try:
        with _begun(command, words) as context:
            command.invoke(context)
    except typer.TyperException as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # typer does not export it
            raise
        if help_text := error.format_message():  # empty where a terminal shows it already
            typer.echo(help_text)
        raise typer.Exit(2) from None


def _begun(command: Command, words: list[str]) -> Context:
    """The words read, unless the shell itself has asked.

    Typer ends the process once it has answered: nobody else may, a user's policy least of all.
    """
    import typer

    from analysis.cli.completion import PROGRAM, answer_shell

    try:
        answer_shell(command)
        return command.make_context(PROGRAM, words, obj=words)
    except SystemExit as answered:
        raise typer.Exit(int(answered.code or 0)) from None

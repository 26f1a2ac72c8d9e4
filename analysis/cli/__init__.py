"""The command ``serving-sim``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType

import typer

from analysis.cli.app import app
from analysis.cli.console import complain
from serving_sim.errors import ServingSimError
from serving_sim.testing import BreachError

_FAILED = 1
_BAD_INPUT = 2
_INTERRUPTED = 130  # 128 + SIGINT, as shells count
_TERMINATED = 143

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
        0 on success, 1 on a failed check, 2 on bad arguments or bad input, 130 on an interruption.
    """
    signal.signal(signal.SIGTERM, _terminate)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=words, prog_name="serving-sim", standalone_mode=False, obj=words) or 0
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except typer.TyperException as error:
        message = error.format_message()
        if message:  # a command without its arguments has shown its help instead
            complain(message)
        return _BAD_INPUT
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        return _BAD_INPUT
    except BreachError as error:  # --check found the policy breaking its contract
        complain(str(error))
        return _FAILED
    except (ServingSimError, ValueError, ImportError) as error:  # ImportError: an extra is missing
        complain(str(error))
        return _BAD_INPUT
    if code == _INTERRUPTED:
        complain("interrupted, files written so far are complete")
    return int(code)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)  # unwinds the stack, so that half-written files are removed

"""Errors that mean a broken contract; bad arguments are plain ``ValueError`` or ``TypeError``.

None of these classes defines ``__init__``: SimPy re-raises a failed process's exception as
``type(exc)(*exc.args)``, which would drop the message of a class with its own signature.
"""


class ServingSimError(Exception):
    """Root of the errors this project raises for broken contracts."""


class PolicyError(ServingSimError):
    """A policy broke its contract; the message names policy, time and request."""


class SourceError(ServingSimError):
    """A source of requests broke its contract; the message names source, time and value."""

"""Stand-ins for logs that cannot be shared: fit one, and see how well it matches."""

from analysis.standin.fit import fit_specification
from analysis.standin.match import Match, match

__all__ = ["Match", "fit_specification", "match"]

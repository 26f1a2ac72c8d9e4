"""What a workload looks like before anyone serves it."""

from analysis.inspection.dispersion import Dispersion, dispersion_of_counts
from analysis.inspection.facts import workload_facts
from analysis.inspection.families import Family, Fitted, fit_families
from analysis.inspection.inspection import Inspection, inspect_workload
from analysis.inspection.windows import round_width, windows_of

__all__ = [
    "Dispersion",
    "Family",
    "Fitted",
    "Inspection",
    "dispersion_of_counts",
    "fit_families",
    "inspect_workload",
    "round_width",
    "windows_of",
    "workload_facts",
]

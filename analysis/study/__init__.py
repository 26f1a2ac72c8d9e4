"""Studies: a grid of simulations in parallel, each kept as soon as it is finished."""

from analysis.study.cell import Cell, Settings
from analysis.study.definition import Study, read_study
from analysis.study.run import run_study
from analysis.study.store import Store
from analysis.study.table import study_table

__all__ = ["Cell", "Settings", "Store", "Study", "read_study", "run_study", "study_table"]

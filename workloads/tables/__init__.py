"""Tables in files: rows in batches of columns, whatever the container, and where each row stands."""

from workloads.tables.batch import Batch
from workloads.tables.intake import Intake, OnBadRow
from workloads.tables.opening import open_table
from workloads.tables.table import Table

__all__ = ["Batch", "Intake", "OnBadRow", "Table", "open_table"]

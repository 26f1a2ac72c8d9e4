"""The simulator against queueing theory."""

from analysis.experiments.validation.runner import CHAPTERS, Finding, count_tasks, validate
from analysis.experiments.validation.settings import Settings, full, quick

__all__ = ["CHAPTERS", "Finding", "Settings", "count_tasks", "full", "quick", "validate"]

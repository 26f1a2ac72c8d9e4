"""Capacity of several policies: limits of the arrival rate, and what happens on the way there."""

from analysis.experiments.capacity.measured import Capacity, Point, Question, count_tasks, measure
from analysis.experiments.capacity.page import capacity_section, limits_table

__all__ = ["Capacity", "Point", "Question", "capacity_section", "count_tasks", "limits_table", "measure"]

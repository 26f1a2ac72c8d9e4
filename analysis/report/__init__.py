"""Self-contained HTML reports."""

from analysis.report.costs import cost_section
from analysis.report.fairness import fairness_section
from analysis.report.inspection import inspection_section, inspection_tables
from analysis.report.page import comparison_page
from analysis.report.pictures import Picture, comparison_pictures
from analysis.report.section import Section
from analysis.report.sections import sections_page
from analysis.report.steptime import step_time_section, step_time_tables

__all__ = [
    "Picture",
    "Section",
    "comparison_page",
    "comparison_pictures",
    "cost_section",
    "fairness_section",
    "inspection_section",
    "inspection_tables",
    "sections_page",
    "step_time_section",
    "step_time_tables",
]

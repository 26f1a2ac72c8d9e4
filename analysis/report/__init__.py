"""Self-contained HTML reports.

What needs scipy.stats, `analysis.report.inspection` and `analysis.report.steptime`, is imported from there: a
comparison does without, and loading it takes longer than its pictures.
"""

from analysis.report.costs import cost_section
from analysis.report.fairness import fairness_section
from analysis.report.page import comparison_page
from analysis.report.pictures import Picture, comparison_picture_names, comparison_pictures
from analysis.report.section import Section
from analysis.report.sections import sections_page

__all__ = [
    "Picture",
    "Section",
    "comparison_page",
    "comparison_picture_names",
    "comparison_pictures",
    "cost_section",
    "fairness_section",
    "sections_page",
]

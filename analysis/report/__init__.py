"""Self-contained HTML reports."""

from analysis.report.page import comparison_page
from analysis.report.pictures import Picture, comparison_pictures

__all__ = ["Picture", "comparison_page", "comparison_pictures"]

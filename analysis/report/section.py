"""One experiment as a reader meets it: what it measures, what was found, tables, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.report.pictures import Picture
from analysis.tables import Table


@dataclass(frozen=True)
class Section:
    """One experiment of a report.

    Attributes
    ----------
    name : str
        What the command line calls it; also its anchor on the page.
    title : str
        Heading.
    measures : sequence of str
        What is measured and in which unit, in paragraphs for a reader without the paper.
    found : sequence of str
        What came out, one finding an item.
    tables : sequence of Table
        Numbers.
    pictures : sequence of Picture
        Drawings.
    """

    name: str
    title: str
    measures: Sequence[str]
    found: Sequence[str]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()

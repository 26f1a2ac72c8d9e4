"""What all pages share: the templates, and pictures that travel inside the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.text import visible


def _shown(value: object) -> object:
    """Every text with its shapeless letters spelled; what a template marks as safe is its own."""
    if type(value) is not str:
        return value
    return "\n".join(map(visible, value.split("\n")))


def render(template: str, **context: object) -> str:
    """A template of this package as HTML text."""
    environment = Environment(
        loader=PackageLoader("analysis.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(context)


def embedded(pictures: Sequence[Picture]) -> list[tuple[Picture, str]]:
    """Each picture with a data URI of its drawing."""
    return [(picture, _data_uri(picture)) for picture in pictures]


def with_pictures(sections: Sequence[Section]) -> list[tuple[Section, list[tuple[Picture, str]]]]:
    """Each section with its pictures, embedded."""
    return [(section, embedded(section.pictures)) for section in sections]


def _data_uri(picture: Picture) -> str:
    # an image of its own, since the ids inside two SVGs on one page could clash
    encoded = base64.b64encode(picture.svg.encode()).decode()
    return f"data:image/svg+xml;base64,{encoded}"

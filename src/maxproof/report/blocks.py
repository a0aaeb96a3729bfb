"""What a report of sections is made of, and its two renderings: one HTML file that loads nothing, and Markdown.

The lab's report, the evaluation's, the study's and the monitor's dashboard are built of these blocks.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from maxproof.report.html import environment, style_sheet

CHART_STYLE = """
.chart{display:inline-block;margin:.4rem .8rem .4rem 0}
.chart figcaption{font-size:.85rem;font-weight:600}
.series{fill:none;stroke-width:2}
.band{stroke:none;opacity:.18}
path.series.s0{stroke:#c2410c}path.band.s0{fill:#c2410c}
path.series.s1{stroke:#1d4ed8}path.band.s1{fill:#1d4ed8}
path.series.s2{stroke:#15803d}path.band.s2{fill:#15803d}
path.series.s3{stroke:#6b21a8}path.band.s3{fill:#6b21a8}
.legend .key{margin-right:1.2rem;white-space:nowrap}
"""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of short texts; the first column is a name, the others are set to the right."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Charts:
    """Drawn charts, as our own SVG, with what they show in words."""

    svg: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are."""

    text: str


Block = Text | Table | Charts | Code


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the report."""

    title: str
    blocks: tuple[Block, ...]


def to_html(kicker: str, title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The whole page; `kicker` stands above the title. The same sections give the same bytes."""
    css = style_sheet() + CHART_STYLE
    return (
        environment()
        .get_template("sections.html.j2")
        .render(
            css=Markup(css),
            css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
            kicker=kicker,
            title=title,
            subtitle=subtitle,
            sections=[(section.title, [Markup(_html(block)) for block in section.blocks]) for section in sections],
        )
    )


def to_markdown(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The same without charts, which are in the HTML."""
    parts = [f"# {title}", subtitle]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [_markdown(block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _html(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{escape(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre>{escape(block.text)}</pre>"
    if isinstance(block, Charts):
        return f'{"".join(block.svg)}<p class="note">{escape(block.caption)}</p>' if any(block.svg) else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in block.headers)
    rows = "".join(
        "<tr>" + f"<th>{escape(row[0])}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in block.rows
    )
    caption = f'<p class="note">{escape(block.caption)}</p>' if block.caption else ""
    table = f'<table class="usage"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="wide">{table}</div>{caption}'


def _markdown(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Code):
        return f"```\n{block.text}\n```"
    if isinstance(block, Charts):
        return f"({block.caption} Drawn in the HTML report.)" if any(block.svg) else ""
    lines = [_row(block.headers), _row(("---",) + ("---:",) * (len(block.headers) - 1))]
    lines += [_row(row) for row in block.rows]
    return "\n".join(lines) + (f"\n\n{block.caption}" if block.caption else "")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

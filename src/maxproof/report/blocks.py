"""What a report of sections is made of, and its two renderings: one HTML file that loads nothing, and Markdown.

The lab's report, the evaluation's, the study's and the monitor's dashboard are built of these blocks. Every text may be
hostile: in HTML it is escaped after hidden characters were made visible.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from maxproof.models.template import visible
from maxproof.report.html import environment, style_sheet

CHART_STYLE = """
.chart{display:inline-block;vertical-align:top;margin:.4rem .8rem .4rem 0}
.chart figcaption{font-size:.85rem;font-weight:600}
.chart figcaption{color:var(--ink);margin:0 0 .3rem;max-width:340px;column-gap:.7rem}
.chart figcaption small{font-weight:400;color:var(--quiet)}
.chart.alarmed{border-color:var(--bad);border-width:2px}
.series{fill:none;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.band{stroke:none;opacity:.18}
path.series.s0{stroke:#c2410c}path.band.s0{fill:#c2410c}
path.series.s1{stroke:#1d4ed8}path.band.s1{fill:#1d4ed8}
path.series.s2{stroke:#15803d}path.band.s2{fill:#15803d}
path.series.s3{stroke:#6b21a8}path.band.s3{fill:#6b21a8}
path.series.s4{stroke:var(--accent)}path.band.s4{fill:var(--accent)}
path.series.s5{stroke:#be185d}path.band.s5{fill:#be185d}
.span.reference{fill:var(--none-bg)}
.span.alarm{fill:var(--bad);opacity:.16}
svg .level{stroke:var(--quiet);stroke-width:1;stroke-dasharray:3 3;fill:none}
.level-band{fill:var(--quiet);opacity:.13}
svg path.flag{stroke:var(--bad);stroke-width:1.5;fill:none}
svg text.flag{fill:var(--bad);font-weight:600}
svg text.flag.end{text-anchor:end}svg text.flag.start{text-anchor:start}
.legend .key{margin-right:1.2rem;white-space:nowrap}
.legend .key::before{display:none}
.legend .key svg{display:inline-block;vertical-align:middle;margin-right:.2rem}
.wide+.wide,.wide+.legend{margin-top:1.1rem}
.usage thead th{white-space:normal;overflow-wrap:normal;vertical-align:bottom}
.usage.sentences tbody th{min-width:min(12rem,30vw)}
.usage.sentences th,.usage.sentences td{text-align:left;white-space:normal;overflow-wrap:break-word;font-size:.9rem;
vertical-align:top;border-bottom:1px solid var(--line)}
.quoted{background:var(--card);border:1px solid var(--line);border-left:3px solid var(--quiet);border-radius:6px;
padding:.6rem .9rem;max-height:22rem;overflow:auto;font:.86rem/1.55 ui-monospace,"DejaVu Sans Mono",monospace}
details.more{border:1px solid var(--line);border-radius:10px;background:var(--card);padding:.6rem 1rem;margin:.8rem 0}
details.more>summary{font-weight:600}
@media print{.quoted{max-height:none}.chart{break-inside:avoid}}
@media (prefers-color-scheme:dark){path.series.s0{stroke:#fb923c}path.band.s0{fill:#fb923c}
path.series.s1{stroke:#7cb0ff}path.band.s1{fill:#7cb0ff}path.series.s2{stroke:#5fcf8c}path.band.s2{fill:#5fcf8c}
path.series.s3{stroke:#c79bf0}path.band.s3{fill:#c79bf0}
path.series.s5{stroke:#f472b6}path.band.s5{fill:#f472b6}}
"""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of short texts; the first column is a name, the others are set to the right.

    `prose`: its cells are sentences, set to the left and broken into lines.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """Drawn charts, as our own SVG, with what they show in words."""

    svg: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """The outcome in a box: `good`, `bad`, or `open` where nothing can be said yet."""

    look: Literal["good", "bad", "open"]
    headline: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """What is shown when asked for, under its one-line summary."""

    summary: str
    blocks: tuple[Block, ...]
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A text that a model wrote, after a line that says what it is."""

    about: str
    text: str


Block = Text | Table | Charts | Code | Notice | Details | Quote


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
            kicker=visible(kicker),
            title=visible(title),
            subtitle=visible(subtitle),
            sections=[
                (visible(section.title), [Markup(_html(block)) for block in section.blocks]) for section in sections
            ],
        )
    )


def to_markdown(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The same without charts, which are in the HTML. Cells and lines are told as text, never as HTML or links."""
    parts = [f"# {_inline(title)}", _inline(subtitle)]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [_markdown(block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


_NOTICE_LOOKS = {"good": ("passed", "✓"), "bad": ("not_passed", "✗"), "open": ("unfinished", "…")}


def _html(block: Block) -> str:
    match block:
        case Text():
            return f"<p>{_said(block.text)}</p>"
        case Code():
            return f"<pre>{_said(block.text)}</pre>"
        case Charts():
            return f'{"".join(block.svg)}<p class="note">{_said(block.caption)}</p>' if any(block.svg) else ""
        case Notice():
            kind, sign = _NOTICE_LOOKS[block.look]
            lines = "".join(f"<p>{_said(line)}</p>" for line in block.lines)
            headline = f'<p class="headline"><span class="sign">{sign}</span>{_said(block.headline)}</p>'
            return f'<div class="outcome {kind}">{headline}{lines}</div>'
        case Details():
            inside = "".join(map(_html, block.blocks))
            shown = " open" if block.shown else ""
            return f'<details class="more"{shown}><summary>{_said(block.summary)}</summary>{inside}</details>'
        case Quote():
            return f'<p class="by">{_said(block.about)}</p><pre class="quoted">{_said(block.text)}</pre>'
        case Table():
            return _html_table(block)


def _said(text: str) -> str:
    return escape(visible(text))


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{_said(name)}</th>" for name in table.headers)
    rows = "".join(
        "<tr>" + f"<th>{_said(row[0])}</th>" + "".join(f"<td>{_said(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in table.rows
    )
    caption = f'<p class="note">{_said(table.caption)}</p>' if table.caption else ""
    look = "usage sentences" if table.prose else "usage"
    body = f'<table class="{look}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="wide">{body}</div>{caption}'


def _markdown(block: Block) -> str:
    match block:
        case Text():
            return _inline(block.text)
        case Code():
            return _fenced(block.text)
        case Charts():
            return f"({block.caption} Drawn in the HTML report.)" if any(block.svg) else ""
        case Notice():
            return "\n\n".join((f"**{block.headline}**", *map(_inline, block.lines)))
        case Details():
            return "\n\n".join((f"### {block.summary}", *map(_markdown, block.blocks)))
        case Quote():
            return f"{block.about}\n\n{_fenced(visible(block.text))}"
        case Table():
            lines = [
                _row(block.headers),
                _row(("---",) + ("---" if block.prose else "---:",) * (len(block.headers) - 1)),
            ]
            lines += [_row(row) for row in block.rows]
            return "\n".join(lines) + (f"\n\n{block.caption}" if block.caption else "")


def _fenced(text: str) -> str:
    """Lines as they are; the fence is longer than any that the text has."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_inline(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _inline(text: str) -> str:
    """Text in which a page that is made of the Markdown finds no HTML, link or image, and no hidden characters."""
    return visible(text).replace("<", "&lt;").replace("](", "]\\(")

"""Markdown with LaTeX, written by a model, to HTML that can do nothing but be read.

The way of a text: hidden characters are made visible; markdown-it turns it to HTML with raw HTML, links, images and
entities off, so what looks like one stays text; each formula goes through latex2mathml to an element tree, of which
only known tags and values are written out; nh3 passes the result through one whitelist more.

A formula that can't be shown in full (a macro definition, a comment, a letter or digit that the converter dropped, more
nesting or length than the limits allow, a syntax error) is shown as its source. Colour, size, position and phantoms are
dropped: whatever the judges read is legible here too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any
from xml.etree.ElementTree import Element

import nh3
from latex2mathml.converter import Converter
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from maxproof.models.template import visible

MAX_TEXT_CHARS = 100_000
MAX_FORMULA_CHARS = 3_000
MAX_FORMULAS = 4_000
MAX_ENVIRONMENTS = 500
MAX_DEPTH = 40

# Definitions and expansion, characters by number, and comments.
_REFUSED = re.compile(
    r"\\(?:(?:re)?new(?:command|environment)|providecommand|[egx]?def|let|DeclareMathOperator|unicode)(?![A-Za-z])"
    r"|(?<!\\)(?:\\\\)*%"
)
# What a formula may hold without showing it: layout. Everything else must be seen.
_LAYOUT = re.compile(
    r"\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}(?:\s*\{[clr|:\s]{1,40}\})?"
    r"|\\(?:text)?color\s*\{[a-zA-Z]{1,12}\}"
    r"|\\(?:[hm]space\*?|hskip|m?kern|mskip|vspace\*?)\s*\{?\s*-?[\d.]{1,6}\s*[a-z]{2}\b\}?"
    r"|\\[a-zA-Z]+"
)
_ROW_GAP = re.compile(r"(\\\\)\s*\[-?[\d.]+\s*(?:pt|em|ex|cm|mm|mu)\]")
_LABEL = re.compile(r"\\label\s*\{([^{}$]*)\}")
_NUMBERED = re.compile(r"\\(begin|end)\{(align|gather|equation|multline|flalign|eqnarray)\}")
_CHAR_REFERENCE = re.compile(r"&#x([0-9A-Fa-f]{1,6});")
_BRACKETS = re.compile(r"\\\[((?:[^$\\]|\\[^\[\]$()])++)\\\]|\\\(((?:[^$\\]|\\[^\[\]$()])++)\\\)")
_APPLICATION = dict.fromkeys(range(0x2061, 0x2065))

_TAGS = {
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mmultiscripts", "mprescripts",
}  # fmt: skip
_VALUES = {
    "display": re.compile(r"block|inline"),
    "mathvariant": re.compile(r"normal"),
    "stretchy": re.compile(r"true|false"),
    "fence": re.compile(r"true|false"),
    "form": re.compile(r"prefix|infix|postfix"),
    "separator": re.compile(r"true|false"),
    "accent": re.compile(r"true|false"),
    "accentunder": re.compile(r"true|false"),
    "largeop": re.compile(r"true|false"),
    "movablelimits": re.compile(r"true|false"),
    "symmetric": re.compile(r"true|false"),
    "displaystyle": re.compile(r"true|false"),
    "scriptlevel": re.compile(r"[012]"),
    "linethickness": re.compile(r"0"),
    "width": re.compile(r"[012](\.\d{1,4})?em"),
    "minsize": re.compile(r"[0123](\.\d{1,4})?em"),
    "maxsize": re.compile(r"[0123](\.\d{1,4})?em"),
}
_CLASSES = {"box": "m-box", "left": "m-left", "right": "m-right"}
_VARIANTS = {
    "bold": "BOLD",
    "italic": "ITALIC",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
    "fraktur": "FRAKTUR",
    "sans-serif": "SANS-SERIF",
    "monospace": "MONOSPACE",
}

_HTML_TAGS = _TAGS | {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "table", "thead", "tbody", "tr", "th", "td", "span",
}  # fmt: skip
_HTML_ATTRIBUTES = {
    **{tag: {"class", *_VALUES} for tag in _TAGS},
    "span": {"class"},
    "code": {"class"},
    "ol": {"start"},
}


class MathsRenderer:
    """Renders texts of one report; the limit on the number of formulas is per text."""

    def __init__(self) -> None:
        md = MarkdownIt("commonmark", {"html": False, "maxNesting": 30}).enable(["table", "strikethrough"])
        dollarmath_plugin(md, allow_labels=False, allow_blank_lines=False, double_inline=True)
        amsmath_plugin(md)
        md.disable(["link", "image", "autolink", "html_inline", "html_block", "reference", "entity"])
        md.add_render_rule("math_inline", _inline_rule)
        for name in ("math_inline_double", "math_block", "amsmath"):
            md.add_render_rule(name, _display_rule)
        for name in ("fence", "code_block"):
            md.add_render_rule(name, _code_rule)
        for name in ("heading_open", "heading_close"):
            md.add_render_rule(name, _heading_rule)
        self._md = md

    def html(self, text: str) -> str:
        """Safe HTML of a text: Markdown and mathematics rendered, or, past the limits, as plain text."""
        shown = visible(text)
        # The search for an environment's end makes markdown-it quadratic in environments that are never closed.
        if len(shown) > MAX_TEXT_CHARS or shown.count("\\begin{") > MAX_ENVIRONMENTS:
            return f"<pre>{escape(shown)}</pre>"
        shown = _BRACKETS.sub(lambda m: f"$${m[1].strip()}$$" if m[1] is not None else f"${m[2].strip()}$", shown)
        html = self._md.render(shown, {"formulas": 0})
        return nh3.clean(html, tags=_HTML_TAGS, attributes=_HTML_ATTRIBUTES, url_schemes=set(), link_rel=None)


def formula(latex: str, *, block: bool) -> str:
    """MathML of one formula, or its source in a `code` element where it can't be shown in full."""
    mathml = _mathml(latex, "block" if block else "inline")
    if mathml is None:
        delimiter = "$$" if block else "$"
        mathml = f'<code class="tex">{escape(visible(f"{delimiter}{latex}{delimiter}"))}</code>'
    return f'<span class="display">{mathml}</span>' if block else mathml


def _mathml(latex: str, display: str) -> str | None:
    if len(latex) > MAX_FORMULA_CHARS or not latex.strip() or _REFUSED.search(latex):
        return None
    latex = _NUMBERED.sub(r"\\\1{\2*}", latex)
    latex = latex.replace(r"\tag", r"\qquad\tag")
    latex = _ROW_GAP.sub(r"\1", latex)
    latex = _LABEL.sub(lambda match: rf"\quad\text{{(label {match[1]})}}", latex)
    try:
        tree = Converter(display=display).convert_to_element(latex)
    except Exception:  # noqa: BLE001 - any failure of the converter on any input means: show the source
        return None
    if _depth(tree) > MAX_DEPTH or not _shows_all(latex, tree):
        return None
    return _write(tree)


def _shows_all(latex: str, tree: Element) -> bool:
    """Every letter and digit of a formula's source, layout aside, is in its tree: no argument was dropped."""
    source = unicodedata.normalize("NFKC", _LAYOUT.sub(" ", latex))
    shown = unicodedata.normalize("NFKC", "".join(_text(element) for element in tree.iter()))
    needed = Counter(c for c in source if c.isalnum())
    needed.subtract(Counter(c for c in shown if c.isalnum()))
    return all(missing <= 0 for missing in needed.values())


def _depth(tree: Element) -> int:
    """Levels of a tree, found without recursion."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for element in level for child in element]
    return depth


def _write(element: Element) -> str:
    tag = element.tag if element.tag in _TAGS else "mrow"
    attributes = dict(element.attrib)
    variant = attributes.pop("mathvariant", "")
    text = visible(_text(element))
    if variant == "normal":
        attributes["mathvariant"] = variant
    elif variant:
        text = _styled(text, variant)
    written = "".join(
        f' {name}="{value}"' for name, value in attributes.items() if name in _VALUES and _VALUES[name].fullmatch(value)
    )
    style = _CLASSES.get(attributes.get("columnalign", "") or attributes.get("notation", ""))
    if style:
        written += f' class="{style}"'
    inner = escape(text) + "".join(_write(child) for child in element)
    if element.tag == "menclose" and "strike" in attributes.get("notation", ""):
        inner = f"<mtext>cancel(</mtext>{inner}<mtext>)</mtext>"
    return f"<{tag}{written}>{inner}</{tag}>"


def _text(element: Element) -> str:
    """An element's own text: latex2mathml leaves character references in it; function application is no text."""
    text = _CHAR_REFERENCE.sub(lambda match: _character(int(match[1], 16)), element.text or "")
    return text.translate(_APPLICATION)


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else "\ufffd"


def _styled(text: str, variant: str) -> str:
    """A letter or digit in a mathematical alphabet; browsers know `mathvariant` no more. Other text as it is."""
    if len(text) != 1 or variant not in _VARIANTS:
        return text
    style, name = _VARIANTS[variant], unicodedata.name(text, "")
    bare = name.removeprefix("LATIN ").removeprefix("GREEK ").replace("LETTER ", "")
    for candidate in (f"MATHEMATICAL {style} {bare}", f"{style.replace('FRAKTUR', 'BLACK-LETTER')} {bare}"):
        try:
            return unicodedata.lookup(candidate)
        except KeyError:
            continue
    return text


def _inline_rule(_self: object, tokens: Sequence[Token], index: int, _options: object, env: dict[str, Any]) -> str:
    return _counted(tokens[index].content, env, block=False)


def _display_rule(_self: object, tokens: Sequence[Token], index: int, _options: object, env: dict[str, Any]) -> str:
    return _counted(tokens[index].content, env, block=True)


def _counted(latex: str, env: dict[str, Any], *, block: bool) -> str:
    env["formulas"] += 1
    if env["formulas"] > MAX_FORMULAS:
        delimiter = "$$" if block else "$"
        return f'<code class="tex">{escape(f"{delimiter}{latex}{delimiter}")}</code>'
    return formula(latex.strip(), block=block)


def _code_rule(_self: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    token = tokens[index]
    info = f"{token.info.strip()}\n" if token.info.strip() else ""
    return f"<pre><code>{escape(info + token.content)}</code></pre>\n"


def _heading_rule(_self: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    # A text's headings stand below those of the report.
    token = tokens[index]
    level = min(6, int(token.tag[1:]) + 2)
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"

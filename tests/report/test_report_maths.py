"""Markdown and formulas: rendered where they can be shown in full, shown as source where not, never active."""

import json
import threading
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.report import maths
from maxproof.report.maths import MathsRenderer, formula

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "data" / "imo2025-transcripts.jsonl"
RENDERER = MathsRenderer()


class _Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def assert_inert(html: str) -> None:
    for tag, attributes in _Elements(html).found:
        assert tag in maths._HTML_TAGS, tag
        for name, value in attributes:
            assert name in {"class", "start", *maths._VALUES}, (tag, name)
            assert name != "class" or value in {"display", "tex", *maths._CLASSES.values()}


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"\mathbb R", "<mi>ℝ</mi>"),
        (r"\mathbf{AB}", "<mi>𝐀</mi><mi>𝐁</mi>"),
        (r"\boldsymbol{\alpha}", "<mi>𝜶</mi>"),
        (r"\begin{cases}1&x\\2&y\end{cases}", '<mtd class="m-left">'),
        (r"\text{if } x<y", "<mtext>if\xa0</mtext>"),
        (r"\begin{align}a&=b\end{align}", '<mtd class="m-right"><mi>a</mi>'),
        (r"\boxed{42}", '<mrow class="m-box">'),
    ],
)
def test_formulas_become_mathml(latex, part):
    html = formula(latex, block=False)
    assert html.startswith("<math")
    assert part in html


def test_numbers_of_equations_are_not_invented():
    assert "(1)" not in formula(r"\begin{align}a&=b\\c&=d\end{align}", block=True)


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac",
        r"x^{",
        r"a^b^c",
        r"\begin{foo",
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}{\a\a}\a",
        r"\let\x=\y",
        r"\unicode{x202e}x",
        "x % this part would vanish",
        r"x \\% so would this",
        r"\href{http://example.com/hidden}{y}",
        r"\color{and this is false}x",
        r"\hspace{secret}x",
        r"\style{color:red}{y}",
        r"\class{secret}{y}",
        r"\mathchoice{a}{b}{c}{d}",
        "{" * 5000,
        r"\frac{" * 60 + "x" + "}{y}" * 60,
        r"\not" * 900 + "x",
        "x+" * maths.MAX_FORMULA_CHARS,
    ],
)
def test_a_formula_that_cant_be_shown_in_full_is_shown_as_source(latex):
    html = formula(latex, block=False)
    assert html.startswith('<code class="tex">$')
    assert "<math" not in html


@pytest.mark.parametrize("command", ["phantom", "color{white}", "textcolor{white}", "tiny", "llap", "hphantom"])
def test_nothing_can_be_hidden_from_the_reader(command):
    html = formula(rf"x \{command}{{secret}}", block=False)
    assert "mathcolor" not in html
    assert "mathsize" not in html
    assert "phantom" not in html or "<code" in html
    letters = "".join(c for c in html.split("x", 1)[1] if c in "secret")
    assert "secret" in letters


def test_text_in_a_formula_stays_text():
    html = formula(r"\text{</math><script>alert(1)</script>}", block=False)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_reference_to_a_hidden_character_stays_a_reference():
    html = formula(r"\text{&#x202e;}", block=False)
    assert "\u202e" not in html
    assert "&amp;#x202e;" in html


def test_markdown_is_rendered_and_everything_active_in_it_is_text():
    html = RENDERER.html(
        "# Title\n\n**b** [x](javascript:alert(1)) ![i](http://h/x.png) <http://h> <b onclick=x>t</b> &#x202e;\n\n"
        '```js" onload=x\n<i>\n```\n'
    )
    assert "<h3>Title</h3>" in html
    assert "<strong>b</strong>" in html
    assert "<pre><code>" in html
    assert_inert(html)


def test_all_delimiters_of_formulas():
    text = "\\(a_1\\) and $b_1$ and \\[c_1\\] and $$d_1$$\n\n"
    text += "\\[\ne_1\n\\]\n\n$$\n- f_1\n$$\n\n\\begin{align}g_1\\end{align}"
    html = RENDERER.html(text)
    assert html.count("<msub>") == 7
    assert html.count('display="block"') == 5
    assert "\\" not in html
    assert "$" not in html


def test_the_formula_limit_falls_back_to_source():
    html = RENDERER.html("$x$ " * (maths.MAX_FORMULAS + 5))
    assert html.count("<math") == maths.MAX_FORMULAS
    assert html.count('<code class="tex">$x$</code>') == 5


def test_a_text_past_the_limits_is_plain():
    assert RENDERER.html("**b** " * maths.MAX_TEXT_CHARS).startswith("<pre>**b**")
    assert RENDERER.html("\\begin{align}\n" * 600).startswith("<pre>")


@pytest.mark.parametrize(
    "piece", ["$", "$$\n", "[", "![", "<", "> ", "- ", "\\[", "\\(", "*a **b ", "`", "|a", "$\\frac$"]
)
def test_repeated_markup_does_not_blow_up(piece):
    done = threading.Event()
    work = threading.Thread(target=lambda: (RENDERER.html(piece * (60_000 // len(piece))), done.set()), daemon=True)
    work.start()
    assert done.wait(60)


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "$", "$$", "\\(", "\\)", "\\[", "\\]", "<script>", "</math>", "<img src=x onerror=y>", "\\text{", "}",
            "\\frac", "\\href{javascript:x}", "\\style{a}", "&", "&#x3c;", "&lt;", "\n", "\n\n", "- ", "> ", "| a |",
            "```", "\\begin{array}{c}", "\\end{array}", "\\\\", "^", "_", "x", "12", "\u202e", "\x1b", "\ud800",
            "[a](b)", "{", "`",
            '" onload="', "\\verb|", "\\unicode{x3c}", "%", "\\left(", "\\right)", "'", "\\color{red}",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(FRAGMENTS)
def test_any_mixture_is_inert(text):
    html = RENDERER.html(text)
    assert_inert(html)
    html.encode()


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="../shared/data/imo2025-transcripts.jsonl is absent")
def test_real_proofs_render_without_falling_back():
    with TRANSCRIPTS.open(encoding="utf-8") as lines:
        texts = [row["text"] for row in map(json.loads, lines) if row["kind"] == "proof"][::12]
    html = [RENDERER.html(text) for text in texts]
    assert sum(h.count("<math") for h in html) > 1000
    assert sum(h.count('<code class="tex">') for h in html) == 0

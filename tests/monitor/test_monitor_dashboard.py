"""The page holds all that a report says, nothing in it runs or loads, and it is a function of the report."""

import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_reports import HOSTILE, OFF, alarm, example, report

from maxproof.monitor import dashboard
from maxproof.monitor.dashboard import MAX_EXAMPLE_CHARS, MAX_POINTS, to_dashboard
from maxproof.monitor.signals import INFO
from maxproof.monitor.types import Reading, Report, Signal

VOID = {"meta", "br", "hr", "img", "input", "link"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "div", "a", "p", "span"),
    *("h1", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre"),
    *("figure", "figcaption", "small", "svg", "path", "rect", "text"),
}


class Page(HTMLParser):
    """All elements with their attributes, the text by element, and whether the nesting is right."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append((self.open[-1] if self.open else "", data))

    def texts(self, tag: str) -> str:
        return "".join(data for inside, data in self.said if inside == tag)

    def classes(self) -> list[str]:
        return [attributes.get("class") or "" for _, attributes in self.elements]


def test_nothing_executable_and_nothing_to_load() -> None:
    page = Page(to_dashboard(report(alarm())))
    assert {tag for tag, _ in page.elements} <= ALLOWED
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style")]
        assert (attributes.get("href") or "#").startswith("#"), tag
    policies = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0] is not None
    assert "default-src 'none'" in policies[0]
    assert "script-src" not in policies[0]
    assert "http" not in page.texts("style")


def test_hidden_characters_are_shown_and_think_tags_defused() -> None:
    text = to_dashboard(report(alarm()))
    assert not set("\u202e\u200b\x1b") & set(text)
    assert "⟨U+202E⟩" in text
    assert "⟨think⟩" in text


def test_only_the_outcome_of_ours_stands_in_its_box() -> None:
    page = Page(to_dashboard(report(alarm())))
    assert [c for c in page.classes() if c.startswith("outcome")] == ["outcome not_passed"]
    assert page.texts("h1").startswith("runs/<script>")


@pytest.mark.parametrize(
    ("made", "box", "said"),
    [
        (report(alarm()), "outcome not_passed", "1 alarm: "),
        (report(), "outcome passed", "Quiet: no alarm in 12 signals over 60 steps"),
        (
            report(steps=12),
            "outcome unfinished",
            "Nothing can be said yet: the baseline window is not full after 12 steps",
        ),
    ],
)
def test_the_outcome_in_words(made: Report, box: str, said: str) -> None:
    page = Page(to_dashboard(made))
    assert box in page.classes()
    assert said in page.texts("p")


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from([HOSTILE, "</pre>", "-->", "]]>", "&lt;"]))
def test_no_text_changes_what_the_page_is_made_of(text: str) -> None:
    def page(said: str) -> list[tuple[str, dict[str, str | None]]]:
        shown = replace(example(), text=said, problem=said)
        raised = replace(alarm(), examples=(shown,), detail=f"x{said}")
        made = replace(report(raised, steps=21), source=said, off={Signal.DISAGREEMENT: said}, skipped={f"a {said}": 1})
        elements = Page(to_dashboard(made)).elements
        return [(tag, {**attributes, "content": None}) for tag, attributes in elements]

    assert page(text) == page("harmless")


def test_every_signal_has_a_chart_or_a_reason_and_a_definition() -> None:
    made = report(alarm(Signal.TEMPLATE_SHARE))
    page = Page(to_dashboard(made))
    charts = page.texts("figcaption")
    table = page.texts("td") + page.texts("th")
    for signal, info in INFO.items():
        assert (info.title in charts) == (signal in made.series)
        assert info.formula in table
        assert info.source in table
    assert "no column thinking" in table
    assert page.classes().count("chart alarmed") == 1
    assert page.classes().count("chart") == len(made.series) - 1


def test_an_alarm_has_signal_steps_size_and_three_examples() -> None:
    page = Page(to_dashboard(report(alarm())))
    summary = page.texts("summary")
    assert "visible" in summary.lower()
    assert "began at step 41, raised at step 46" in summary
    assert "3,500" in summary
    assert "9,800" in summary
    assert page.classes().count("quoted") == 3
    quoted = page.texts("pre")
    assert "<script>alert(1)</script>" in quoted
    assert "characters left out" in quoted
    assert len(quoted) < 3 * (MAX_EXAMPLE_CHARS * 1.5 + 100)
    marks = [a for tag, a in page.elements if tag == "rect" and a.get("class") == "span alarm"]
    assert len(marks) == 1


def test_false_positive_rate_with_its_interval_and_not_scored() -> None:
    said = Page(to_dashboard(report())).texts("p")
    assert "2.9 % [2.0, 4.1] of 1,000 rollouts with both scores" in said
    assert "they count as unknown, never as 0" in said
    none = Page(to_dashboard(replace(report(), false_positives=None, not_scored=None))).texts("p")
    assert "not measured" in none
    assert "0.0 %" not in none


def test_a_gap_is_no_line() -> None:
    whole, broken = to_dashboard(report()), to_dashboard(report(gap=30))
    lines = len(report().series)
    assert whole.count('class="series s4"') == lines
    assert broken.count('class="series s4"') == 2 * lines


def test_many_steps_are_averaged_and_said_so() -> None:
    made = report(steps=3 * MAX_POINTS)
    text = to_dashboard(made)
    assert "Each point is the mean of 3 steps" in text
    assert len(text) < 1.2 * len(to_dashboard(report(steps=MAX_POINTS)))
    readings = tuple(Reading(step, None if step < 4 else float(step), 1) for step in range(6))
    assert [r.value for r in dashboard._thinned(readings, 3)] == [None, 4.5]


def test_the_same_report_gives_the_same_bytes() -> None:
    made = report(alarm(), alarm(Signal.TEMPLATE_SHARE))
    other = replace(made, series=dict(reversed(list(made.series.items()))), off=dict(reversed(list(OFF.items()))))
    assert to_dashboard(made) == to_dashboard(other)


def test_an_empty_report_is_a_page() -> None:
    empty = Report("nothing", 0, 0, {}, dict.fromkeys(Signal, "no rollouts"), (), None, None, None)
    assert "no rollouts were read" in Page(to_dashboard(empty)).texts("p")


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_draws_it(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(to_dashboard(report(alarm())))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert HOSTILE[:8] not in done.stdout
    assert done.stdout.count("<figure") == len(report().series)

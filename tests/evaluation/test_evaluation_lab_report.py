"""The lab report as files: hostile text, nothing that is loaded, charts, results read from a run folder."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lab_results_fakes import PROFILE, everything, results_of, searched, write_run

from maxproof.evaluation.lab.profile import profile_named
from maxproof.evaluation.lab.report import write_report
from maxproof.evaluation.lab.reproduce_section import reproduce_section
from maxproof.evaluation.lab.results import read_results
from maxproof.evaluation.lab.sections import all_sections
from maxproof.evaluation.lab.stages import RESULT, stage_folder
from maxproof.problems import InputError
from maxproof.report.blocks import Charts, Code, Section, Table, Text, to_html, to_markdown
from maxproof.report.line_charts import Series, legend, line_chart, mean_band

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
VOID = {"meta", "img", "br", "path", "link"}


class Tags(HTMLParser):
    """Collects elements and attributes, and whether elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def tags(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def page(*sections: Section) -> str:
    return to_html(HOSTILE, HOSTILE, HOSTILE, sections)


def test_hostile_text_is_text_wherever_it_stands() -> None:
    blocks = (
        Text(HOSTILE),
        Code(HOSTILE),
        Table((HOSTILE, HOSTILE), ((HOSTILE, HOSTILE),), HOSTILE),
        Charts((line_chart(HOSTILE, [Series(HOSTILE, ((0, 0), (1, 1)))], HOSTILE), legend([(HOSTILE, 0)])), HOSTILE),
    )
    html = page(Section(HOSTILE, blocks))
    found = tags(html)
    assert not found.names & {"script", "img", "link", "iframe"}
    assert not {name for name in found.attributes if name.startswith("on")} | found.attributes & {"src"}
    assert html.count("&lt;script&gt;") >= 11


def test_the_whole_report_loads_nothing_and_runs_nothing() -> None:
    results = everything()
    results["verifier"]["seconds"] = 1.0
    html = to_html("k", "t", "s", all_sections(results_of(results, searched([(0.0, 0.0, 7.0)] * 4))))
    found = tags(html)
    assert not found.names & {"script", "img", "link", "iframe", "object"}
    assert "default-src 'none'" in html
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert found.names >= {"svg", "table", "nav", "pre"}
    for number in range(1, 9):
        assert f'href="#s{number}"' in html
        assert f'id="s{number}"' in html


def test_the_same_results_give_the_same_bytes() -> None:
    sections = all_sections(results_of(everything(), searched([(0.0, 7.0, 7.0)] * 9)))
    again = all_sections(results_of(everything(), searched([(0.0, 7.0, 7.0)] * 9)))
    assert to_html("k", "t", "s", sections) == to_html("k", "t", "s", again)
    assert to_markdown("t", "s", sections) == to_markdown("t", "s", again)


def test_markdown_tables_keep_their_columns() -> None:
    text = to_markdown("t", "", [Section("s", (Table(("a|b", "c"), (("x\ny", "1|2"),), "note"),))])
    assert "| a\\|b | c |\n| --- | ---: |\n| x y | 1\\|2 |\n\nnote" in text


def test_charts_need_two_points_and_stay_in_their_frame() -> None:
    assert line_chart("t", [Series("one", ((0, 1),))]) == ""
    svg = line_chart("t", [Series("up", ((0, 0), (10, 3)), (0, 2), (1, 400), 1)], top=1.0)
    numbers = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", svg)]
    assert all(0 <= y <= 210 for y in numbers)
    flat = line_chart("t", [Series("zero", ((5, 0), (5, 0)))])
    assert "nan" not in flat


def test_a_band_is_over_the_steps_that_all_seeds_have() -> None:
    band = mean_band("n", [[(0, 1), (1, 2), (2, 9)], [(1, 4), (0, 3)]])
    assert band.points == ((0, 2), (1, 3))
    assert (band.low, band.high) == ((1, 2), (3, 4))
    assert mean_band("n", []).points == ()


def test_a_report_is_written_from_a_run_folder(tmp_path: Path) -> None:
    write_run(tmp_path, everything(), searched([(0.0, 0.0, 7.0)] * 3))
    results = read_results(tmp_path)
    assert results.profile == PROFILE
    assert len(results.searches) == 3
    assert [run["seed"] for run in results.arms("panel")] == [0, 1]
    assert "measure-merged" in results.waiting
    html, markdown = write_report(tmp_path)
    assert html.name == "report.html"
    assert f"3 of {PROFILE.search_problems} held-out problems" in markdown.read_text(encoding="utf-8")


def test_a_command_is_given_only_where_it_gives_the_same_profile() -> None:
    for profile, given in ((profile_named("tiny").model_copy(update={"seed": 4}), True), (PROFILE, False)):
        text = to_markdown("t", "s", [reproduce_section(results_of({}, profile=profile))])
        assert ("maxproof lab run --profile tiny --seed 4 --out FOLDER" in text) is given
        assert ("none of the built-in ones" in text) is not given
        assert '"search_problems"' in text


def test_a_report_of_a_run_that_has_only_begun_says_so(tmp_path: Path) -> None:
    write_run(tmp_path, {})
    _, markdown = write_report(tmp_path)
    assert markdown.read_text(encoding="utf-8").count("Not measured yet") == 7


def test_a_damaged_result_is_one_clear_line(tmp_path: Path) -> None:
    write_run(tmp_path, everything())
    path = stage_folder(tmp_path, "merge") / RESULT
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is damaged") as caught:
        write_report(tmp_path)
    assert caught.value.file == str(path)
    assert not (tmp_path / "report.html").exists()

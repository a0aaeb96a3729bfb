"""Blocks of a report: notices, folded parts and quotes, as HTML and as Markdown."""

import re

import pytest

from maxproof.report.blocks import Code, Details, Notice, Quote, Section, Table, Text, to_html, to_markdown

HOSTILE = "</pre></details><script>x</script>\u202e\n```\nfake\n````"


def _html(*blocks: Text | Table | Notice | Details | Quote | Code) -> str:
    return to_html("kicker", "title", "subtitle", [Section("one", blocks)]).split("<main>")[1]


def _markdown(*blocks: Text | Table | Notice | Details | Quote | Code) -> str:
    return to_markdown("title", "subtitle", [Section("one", blocks)])


@pytest.mark.parametrize(
    "block",
    [
        Text(HOSTILE),
        Code(HOSTILE),
        Table((HOSTILE, "x"), ((HOSTILE, HOSTILE),), HOSTILE, prose=True),
        Notice("good", HOSTILE, (HOSTILE,)),
        Details(HOSTILE, (Text(HOSTILE), Quote(HOSTILE, HOSTILE))),
        Quote(HOSTILE, HOSTILE),
    ],
)
def test_every_text_is_escaped_and_visible(block: Text) -> None:
    page = _html(block)
    assert "<script>" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    assert page.count("<details") == page.count("</details>")
    assert page.count("<pre") == page.count("</pre>")


@pytest.mark.parametrize(("look", "kind"), [("good", "passed"), ("bad", "not_passed"), ("open", "unfinished")])
def test_a_notice_looks_as_the_outcome(look: str, kind: str) -> None:
    assert f'<div class="outcome {kind}">' in _html(Notice(look, "said", ("more",)))  # type: ignore[arg-type]
    assert "**said**\n\nmore" in _markdown(Notice(look, "said", ("more",)))  # type: ignore[arg-type]


def test_details_are_folded_in_a_page_and_a_heading_in_markdown() -> None:
    folded = Details("gist", (Text("inside"),))
    assert '<details class="more"><summary>gist</summary><p>inside</p></details>' in _html(folded)
    assert '<details class="more" open>' in _html(Details("gist", (), shown=True))
    assert "### gist\n\ninside" in _markdown(folded)


def test_a_quote_cannot_end_its_fence() -> None:
    said = _markdown(Quote("about", HOSTILE))
    fences = re.findall(r"^`{5,}$", said, re.MULTILINE)
    assert len(fences) == 2
    assert "\u202e" not in said


def test_prose_is_set_to_the_left() -> None:
    table = Table(("a", "b"), (("c", "d"),), prose=True)
    assert 'class="usage sentences"' in _html(table)
    assert "| --- | --- |" in _markdown(table)
    assert "| --- | ---: |" in _markdown(Table(("a", "b"), (("c", "d"),)))


def test_cells_and_lines_of_the_markdown_are_text() -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](http://example.org/pixel) \u202e"
    made = to_markdown(
        hostile, hostile, [Section("one", (Table((hostile,), ((hostile,),)), Notice("good", "h", (hostile,))))]
    )
    assert "<img" not in made
    assert "](" not in made
    assert "\u202e" not in made
    assert "[0.5, 1]" in to_markdown("t", "s", [Section("one", (Table(("a",), (("[0.5, 1]",),)),))])

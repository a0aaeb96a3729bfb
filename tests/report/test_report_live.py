"""The three views of a running search."""

import io
import json
import time

import pytest
from rich.console import Console

from maxproof.models.types import CallProgress
from maxproof.report.live import JsonLines, LiveView, PlainLines, Tally, View, observer_for
from maxproof.search.events import (
    CandidateAdded,
    CandidateLost,
    MatchClosed,
    RoundClosed,
    RoundStarted,
    Stopped,
    Summarised,
    Verified,
    Voted,
)
from maxproof.search.types import Match, Round, StopReason, Vote
from maxproof.verifier.types import ScoreState

PASSED, FAILED, NOT_SCORED = ScoreState.PASSED, ScoreState.FAILED, ScoreState.NOT_SCORED
HOSTILE = "\x1b[2J\x1b]0;pwned\x07[bold red]markup[/bold red]\nsecond line"
EVENTS = [
    RoundStarted(0, ()),
    *(CandidateAdded(n, 0, "generate", None, 4000) for n in range(3)),
    CandidateLost(3, HOSTILE),
    *(Verified(0, k, PASSED, 7.0, 7.0, k == 1) for k in range(2)),
    Verified(1, 0, FAILED, 1.0, 1.0, False),
    Verified(2, 0, NOT_SCORED, None, None, False),
    Summarised(0),
    RoundClosed(Round(0, (), (0, 1, 2), 7.0, (0,))),
    RoundStarted(1, (1,)),
    CandidateAdded(4, 1, "patch", 1, 4000),
    Stopped(StopReason.ROUNDS),
    Voted(0, Vote(0, 0, 0, HOSTILE)),
    MatchClosed(Match(0, 0, 0, 1, (Vote(0, 0, 0, HOSTILE),), 0, "votes")),
]


def progress() -> CallProgress:
    return CallProgress(12, 3, 450, 20, 2, 1_234_567, 1.5, 0.75)


def feed(view) -> None:
    with view as observe:
        for event in EVENTS:
            observe(event)


def test_plain_lines_tell_what_matters_once():
    out = io.StringIO()
    feed(PlainLines(out, progress))
    lines = [line.split("] ", 1)[1] for line in out.getvalue().splitlines()]
    assert lines[1:] == [
        "candidate 0 passed all its verifications",
        "round 0 closed: 3 candidates, best 7 of 7, 1 passed",
        "round 1: parents 1",
        "rounds ended: all rounds done",
        "match 0: 0 over 1 (1 : 0)",
    ]
    assert lines[0].startswith("candidate 3 was not made: ⟨U+001B⟩")
    assert "\x1b" not in out.getvalue()


def test_losses_do_not_flood_the_lines():
    out = io.StringIO()
    with PlainLines(out) as observe:
        for n in range(100):
            observe(CandidateLost(n, "endpoint gone"))
    assert len(out.getvalue().splitlines()) == 5
    assert "further ones are only counted" in out.getvalue()


@pytest.mark.parametrize("kind", [PlainLines, JsonLines])
def test_progress_comes_also_when_no_event_does(kind):
    out = io.StringIO()
    with kind(out, interval_s=0.01) as view:
        view.watch(progress)
        deadline = time.monotonic() + 30
        while out.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    last = out.getvalue().splitlines()[-1]
    if kind is PlainLines:
        assert "12 calls in flight, 3 calls waiting (retrying or queued), 450 finished, 20 from the journal" in last
        assert "2 failed, 1,234,567 tokens" in last
        assert "cost 1.5000, 75% of the budget left" in last
    else:
        assert json.loads(last)["event"] == "progress"
        assert json.loads(last)["in_flight"] == 12


def test_json_lines_carry_every_event_and_only_printable_ascii():
    out = io.StringIO()
    feed(JsonLines(out, progress))
    lines = out.getvalue().splitlines()
    assert all(set(line) <= set(map(chr, range(0x20, 0x7F))) for line in lines)
    events = [json.loads(line) for line in lines]
    assert len(events) == len(EVENTS)
    assert [e["event"] for e in events[:2]] == ["round_started", "candidate_added"]
    assert events[-1]["match"]["votes"][0]["reason"] == HOSTILE
    assert events[5] | {"elapsed_s": 0} == {
        "event": "verified", "elapsed_s": 0, "candidate": 0, "sample": 0, "state": "passed", "points": 7.0,
        "fitness": 7.0, "exact": False,
    }  # fmt: skip


def rendered(view: LiveView) -> str:
    console = Console(file=io.StringIO(), width=120, no_color=True)
    console.print(view.renderable())
    return console.file.getvalue()


def test_the_live_view_shows_state_calls_budget_and_the_best():
    view = LiveView(Console(file=io.StringIO(), force_terminal=True, width=120), progress)
    feed(view)
    text = rendered(view)
    assert "round 1, 4 candidates, best 7 of 7, 1 passed, 1 lost" in text
    assert "12 calls in flight" in text
    assert "budget ██" in text
    rows = [line.split() for line in text.splitlines() if "generate" in line]
    assert rows == [
        ["0", "0", "generate", "7", "✓", "✓"],
        ["1", "0", "generate", "≤", "1", "✗"],
        ["2", "0", "generate", "?", "?"],
    ]
    assert "pwned" not in text


def test_the_live_view_redraws_by_its_clock_not_by_events():
    out = io.StringIO()
    view = LiveView(Console(file=out, force_terminal=True, width=120))
    with view as observe:
        for n in range(20_000):
            observe(CandidateAdded(n % 500, 0, "generate", None, 10))
    # A frame is a few hundred characters; 20,000 frames would be megabytes.
    assert len(out.getvalue()) < 100_000


def test_without_calls_to_watch_nothing_is_said_of_them():
    assert "in flight" not in rendered(LiveView(Console(file=io.StringIO())))


def test_the_view_fits_the_stream():
    out = io.StringIO()
    assert type(observer_for(stream=out)) is PlainLines
    assert type(observer_for(as_json=True, stream=out)) is JsonLines
    assert type(observer_for(quiet=True, as_json=True, stream=out)) is View
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    assert type(observer_for(stream=terminal)) is LiveView
    feed(observer_for(quiet=True, stream=out))
    assert out.getvalue() == ""


def test_a_server_that_answers_nothing_is_told_in_both_views():
    calls = CallProgress(0, 4, 0, 0, 0, 0, None, None, trouble="503 from server-1\n\x1b[2J" + "x" * 5000)
    text = rendered(LiveView(Console(file=io.StringIO()), lambda: calls))
    assert "0 calls in flight, 4 calls waiting (retrying or queued), 0 finished" in text
    assert "no call succeeds: 503 from server-1 ⟨U+001B⟩" in text
    out = io.StringIO()
    with PlainLines(out, lambda: calls, interval_s=0.01):
        deadline = time.monotonic() + 30
        while not out.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "no call succeeds: 503 from server-1 ⟨U+001B⟩" in out.getvalue().splitlines()[0]


def test_the_best_of_the_status_is_the_first_of_the_table():
    tally = Tally()
    for event in (
        *(CandidateAdded(n, 0, "generate", None, 10) for n in range(2)),
        Verified(0, 0, FAILED, 0.0, 0.0, True),
        Verified(1, 0, FAILED, 6.0, 6.0, False),
    ):
        tally.apply(event)
    assert "best ≤ 6 of 7" in tally.status()

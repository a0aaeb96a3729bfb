"""Hostile text in a real browser: no script runs, no request leaves, nothing active is in the document.

Each page is loaded by a headless Chromium that may reach a trap server on this machine, whose address stands in every
hostile place. A control page with the same text unescaped shows that the trap and the canary work.
"""

import http.server
import re
import shutil
import subprocess
import threading
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_views import failed_view, realistic_view, standing, verification, view_of

from maxproof.models.types import RoleUsage
from maxproof.problems import Problem
from maxproof.report import maths
from maxproof.report.html import render_report
from maxproof.search.types import Match, Vote
from maxproof.verifier.types import BadCaseHit, LocatedError

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

ATTACKS = """
<script>document.title='CANARY';fetch('TRAP/script')</script>
</script><script>document.title='CANARY'</script>
</pre></details></div></section></main><script>document.title='CANARY'</script><h1>A proof passed</h1>
</style><script>document.title='CANARY'</script>
</title><script>document.title='CANARY'</script>
"><script>document.title='CANARY'</script><a title="
' onmouseover='document.title="CANARY"' autofocus onfocus='document.title="CANARY"
<img src=x onerror="document.title='CANARY'"><img src="TRAP/img">
<svg onload="document.title='CANARY'"><image href="TRAP/svg"/><script href="TRAP/svgscript"/></svg>
<iframe src="TRAP/frame"></iframe><iframe srcdoc="<script>parent.document.title='CANARY'</script>"></iframe>
<object data="TRAP/object"></object><embed src="TRAP/embed"><video src="TRAP/video" autoplay></video>
<link rel=stylesheet href="TRAP/css"><link rel=prefetch href="TRAP/prefetch"><link rel=icon href="TRAP/icon">
<style>@import url('TRAP/import'); body{background:url('TRAP/bg')}</style>
<div style="background:url('TRAP/style')">x</div>
<base href="TRAP/base/"><meta http-equiv="refresh" content="0;url=TRAP/refresh">
<form action="TRAP/form"><input autofocus onfocus="document.title='CANARY'"></form>
<details open ontoggle="document.title='CANARY'"><summary>x</summary></details>
<math><mtext><script>document.title='CANARY'</script></mtext>
<maction actiontype="statusline#TRAP/m">x</maction></math>
<math><annotation-xml encoding="text/html">
<img src="TRAP/ann" onerror="document.title='CANARY'"></annotation-xml></math>
<math><mglyph><style></math><img src="TRAP/mglyph" onerror="document.title='CANARY'">
<!--><img src="TRAP/comment" onerror="document.title='CANARY'">-->
<![CDATA[<img src="TRAP/cdata">]]> <?xml-stylesheet href="TRAP/pi"?>
[a](javascript:document.title='CANARY') ![i](TRAP/mdimg) <TRAP/auto> [r]: TRAP/ref "x"
![x][r] [data](data:text/html,<script>document.title='CANARY'</script>)
$\\href{javascript:document.title='CANARY'}{x}$ $\\href{TRAP/href}{y}$
$\\text{</math><script>document.title='CANARY'</script>}$
$\\class{x" onload="document.title='CANARY'}{y}$ $\\style{background:url(TRAP/mstyle)}{z}$
$\\text{<img src="TRAP/mtext">}$
$\\unicode{x3c}script\\unicode{x3e}$ $\\color{red" onclick="document.title='CANARY'}x$ $&lt;img src=TRAP/ent&gt;$
$\\begin{array}{c" onload="document.title='CANARY'}x\\end{array}$ $\\includegraphics{TRAP/gfx}$
$\\foo<img src=TRAP/cmd>$
$\\verb|<img src=TRAP/verb>|$ $&#x3c;script&#x3e;document.title='CANARY'&#x3c;/script&#x3e;$
$\\tag{<img src=TRAP/tag>}x$
``` " onload="document.title='CANARY'
<img src="TRAP/fence">
```
\u202e\u200b\x1b]0;CANARY\x07 {{ config }} {% raw %} ${7*7} &#106;avascript:alert(1)
"""


class Trap(http.server.ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), TrapHandler)
        self.hits: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class TrapHandler(http.server.BaseHTTPRequestHandler):
    server: Trap

    def do_GET(self) -> None:
        self.server.hits.append(self.path)
        self.send_response(404)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def trap():
    with Trap() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def load(page: str, folder: Path, name: str = "page.html") -> str:
    """The document after loading, as Chromium writes it out."""
    path = folder / name
    path.write_text(page, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}"]
    command = [str(CHROMIUM), *flags, "--virtual-time-budget=2000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=100, check=True)
    return done.stdout.decode()


class Document(HTMLParser):
    """What stands in a document: its elements with attributes, and its title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.title = re.search(r"<title>(.*?)</title>", html, re.DOTALL)[1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


OURS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "nav", "h1", "h2", "small",
    "a", "details", "summary", "div", "aside", "figure", "figcaption", "caption", "tfoot", "mark", "b", "dl",
    "dt", "dd", "svg", "g", "path", "circle", "text",
}  # fmt: skip


def assert_inert(document: Document) -> None:
    for tag, attributes in document.elements:
        assert tag in OURS | maths._HTML_TAGS, tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"style", "src", "srcset", "data", "action", "xlink:href", "background"}, (tag, name)
            assert name != "href" or re.fullmatch(r"#[a-z0-9]+", value), value
            assert name != "http-equiv" or value == "Content-Security-Policy"


def hostile_view(attack: str):
    """The attack in every place that a model, a file or a setting can write to."""
    view = realistic_view(rounds=1)
    bad = verification(0, 1, 6, None, errors=(LocatedError(attack, attack), LocatedError(attack[:60], attack)))
    judges = tuple(replace(j, judge=attack, mode=attack, assessment=attack, reason=attack) for j in bad.judges)
    bad = replace(
        bad, judges=judges, critique=attack, normalisation=replace(bad.normalisation, method=attack, fallback=attack)
    )
    hit = replace(bad, judges=(), bad_cases=(BadCaseHit(attack, attack, attack),))
    standings = (
        standing(0, {0: bad}, text=attack, summary=attack),
        standing(1, {0: bad}, text=attack + "\n" + attack, summary=attack),
        standing(2, {0: hit}, text=attack, summary=attack),
    )
    votes = (Vote(0, 0, 0, attack), Vote(1, 1, None, attack))
    base = view_of(
        *standings, winner=0, lost={7: attack}, finalists=(0, 1), matches=(Match(0, 0, 0, 1, votes, 0, "votes"),)
    )
    problem = Problem(*[attack] * 8)
    usage = (RoleUsage(attack, 1, 0, 10, 10, estimated=True), *view.usage)
    return replace(
        base, run=attack, problem=problem, settings={attack: attack}, usage=usage, stopped=attack, started=attack,
        version=attack,
    )  # fmt: skip


def test_hostile_text_does_nothing_in_a_browser(trap, tmp_path):
    attack = ATTACKS.replace("TRAP", trap.url)
    page = render_report(hostile_view(attack))
    # Everything open, so that what is inside a closed element would act too.
    document = Document(load(page.replace("<details", "<details open"), tmp_path))
    assert_inert(document)
    assert document.title.endswith("MaxProof report")
    assert trap.hits == []


def test_without_the_policy_hostile_text_does_nothing_either(trap, tmp_path):
    attack = ATTACKS.replace("TRAP", trap.url)
    page = render_report(hostile_view(attack)).replace("<details", "<details open")
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert bare != page
    document = Document(load(bare, tmp_path))
    assert_inert(document)
    assert document.title.endswith("MaxProof report")
    assert trap.hits == []


def test_the_trap_and_the_canary_work(trap, tmp_path):
    attack = ATTACKS.replace("TRAP", trap.url).replace('content="0;url', 'content="900;url')
    html = load(f"<!DOCTYPE html><title>quiet</title><body>{attack}", tmp_path)
    assert "CANARY" in re.search(r"<title>(.*?)</title>", html)[1]
    assert len(set(trap.hits)) > 5


def test_the_policy_stops_a_script_that_got_in(trap, tmp_path):
    page = render_report(failed_view())
    attack = ATTACKS.replace("TRAP", trap.url).replace("<meta http-equiv", "<x ")
    html = load(page.replace("</main>", attack + "</main>"), tmp_path)
    assert "CANARY" not in re.search(r"<title>(.*?)</title>", html)[1]
    assert trap.hits == []


def test_112_candidates_of_200_kb_load(tmp_path):
    words = r"Let $n \ge 3$ & suppose that a < b, so the sum $\sum_{i=1}^n a_i$ is at most " "10" ". "
    text = (words * (200_000 // len(words) + 1))[:200_000]
    standings = [
        standing(n, {k: verification(k, 6, 6, 6) for k in range(4)}, text=f"candidate {n}: {text}") for n in range(112)
    ]
    view = view_of(*standings, winner=0, finalists=(0, 1, 2, 3))
    started = time.perf_counter()
    page = render_report(view)
    generated = time.perf_counter() - started
    assert len(page.encode()) < 40_000_000
    document = load(page, tmp_path)
    loaded = time.perf_counter() - started - generated
    print(f"generated in {generated:.1f} s, {len(page) / 1e6:.1f} MB, loaded in {loaded:.1f} s")
    assert all(f"candidate {n}: Let" in document for n in range(112))

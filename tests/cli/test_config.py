"""Where settings come from, which source wins, and what a mistake is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxproof.cli.config import EFFORTS, flatten, load_config, with_overrides
from maxproof.cli.errors import NoModel
from maxproof.models.settings import ROLES
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings, SearchSettings

SERVER = {"OPENAI_BASE_URL": "http://env:1/v1"}
ONE = '[endpoints.box]\nbase_url = "http://box/v1"\nmodel = "m"\napi_key_env = "BOX_KEY"\nprices = {input = 2}\n'
TWO = ONE + '[endpoints.big]\nbase_url = "https://big/v1"\n'
SECRET = "sk-proj-0123456789abcdefghij"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(
    text: str | None = None,
    flags: dict[str, object] | None = None,
    *,
    effort: str | None = None,
    environ: dict[str, str] | None = None,
) -> RunSettings:
    path = None
    if text is not None:
        path = Path("c.toml")
        path.write_text(text)
    return load_config(path, effort=effort, overrides=flags, environ=SERVER if environ is None else environ)


def message(text: str | None, flags: dict[str, object] | None = None, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        load(text, flags, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_defaults_are_the_published_ones() -> None:
    found = load()
    assert found.search == SearchSettings()
    assert load(effort="paper") == found
    assert {key: getattr(found.search, key) for key in EFFORTS["paper"]} == EFFORTS["paper"]
    assert set(found.roles) == set(ROLES)


def test_each_source_beats_the_one_before() -> None:
    file = 'effort = "quick"\n[search]\ncandidates = 8\nvotes = 5\n'
    quick = load('effort = "quick"').search
    assert (quick.candidates, quick.verifications, quick.rounds, quick.parents) == (4, 2, 1, 2)
    refined = load(file).search
    assert (refined.candidates, refined.verifications, refined.votes) == (8, 2, 5)
    preset = load(file, effort="standard").search
    assert (preset.candidates, preset.verifications, preset.votes) == (16, 4, 5)
    assert load(file, {"search.candidates": 9}, effort="standard").search.candidates == 9


def test_the_file_in_the_working_folder_is_found() -> None:
    Path("maxproof.toml").write_text("[search]\nseed = 3\n")
    assert load().search.seed == 3
    assert load("[search]\nvotes = 1\n").search.seed == 0


class TestEndpoints:
    def test_the_environment_is_used_only_without_an_endpoint(self) -> None:
        assert load().endpoints["default"].base_url == "http://env:1/v1"
        assert load(environ=SERVER | {"OPENAI_MODEL": "gpt"}).endpoints["default"].model == "gpt"
        assert set(load(ONE).endpoints) == {"box"}

    def test_a_key_alone_means_openai_with_a_named_model(self) -> None:
        found = load(environ={"OPENAI_API_KEY": SECRET, "OPENAI_MODEL": "gpt"})
        assert found.endpoints["default"].base_url == "https://api.openai.com/v1"
        assert SECRET not in repr(found)
        with pytest.raises(NoModel, match="--model or OPENAI_MODEL"):
            load(environ={"OPENAI_API_KEY": SECRET})

    def test_nothing_at_all_says_the_ways_out(self) -> None:
        for flags in ({}, {"endpoints.default.concurrency": 3}):
            with pytest.raises(NoModel, match=r"--base-url.*OPENAI_BASE_URL.*maxproof models get smollm2.*--local"):
                load(flags=flags, environ={})

    def test_the_only_endpoint_serves_every_role_whatever_its_name(self) -> None:
        assert {role.endpoint for role in load(ONE).roles.values()} == {"box"}
        found = load(ONE, {"endpoints.default.model": "405", "endpoints.default.concurrency": "8"})
        assert (found.endpoints["box"].model, found.endpoints["box"].concurrency) == ("405", 8)

    def test_several_endpoints_must_be_told_apart(self) -> None:
        assert "roles.generator.endpoint: not set, and none of the endpoints box, big" in message(TWO)
        roles = "".join(f'[roles.{role}]\nendpoint = "big"\n' for role in ROLES)
        assert {role.endpoint for role in load(TWO + roles).roles.values()} == {"big"}
        assert "several endpoints and none is named default: box, big" in message(
            TWO + roles, {"endpoints.default.model": "x"}
        )

    def test_a_base_url_flag_makes_it_the_only_endpoint(self) -> None:
        text = TWO + '[roles.judge]\nendpoint = "big"\nmodel = "x"\ntemperature = 0.5\n'
        text += '[[verifier.judges]]\nname = "a"\nendpoint = "box"\nmodel = "y"\n'
        found = load(text, {"endpoints.default.base_url": "local:smollm2"})
        assert set(found.endpoints) == {"default"}
        default = found.endpoints["default"]
        assert (default.base_url, default.model, default.api_key_env, default.prices) == (
            "local:smollm2",
            "",
            "OPENAI_API_KEY",
            None,
        )
        judge, own = found.roles["judge"], found.verifier.judges[0]
        assert (judge.endpoint, judge.model, judge.temperature) == ("default", None, 0.5)
        assert (own.endpoint, own.model) == (None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", r"c.toml:1: x: unknown setting \(known: endpoints, .*effort\)"),
        ("\n\n[serch]\nrounds = 1", r"c.toml:3: serch: unknown setting \(did you mean search\?\)"),
        ("candidates = 8", r"c.toml:1: candidates: unknown setting \(it belongs in \[search\]\)"),
        ('base_url = "x"', r"c.toml:1: base_url: unknown setting \(it belongs in \[endpoints.NAME\]\)"),
        ("[search]\n# candidats\n\ncandidats = 8", r"c.toml:4: search.candidats: .*mean candidates\?"),
        ('[search]\nrounds = 1\ncandidates = "8"', r"c.toml:3: search.candidates: expected a whole number, got '8'"),
        ("[search]\nrounds = 1.5", "c.toml:2: search.rounds: expected a whole number, got 1.5"),
        ("[search]\nrounds = true", "c.toml:2: search.rounds: expected a whole number, got true"),
        ("[search]\nrounds = -1", "c.toml:2: search.rounds: expected at least 0, got -1"),
        ("[search]\nlazy = 1", "c.toml:2: search.lazy: expected true or false, got 1"),
        ('[search]\nfinalist_mode = "best"', "c.toml:2: search.finalist_mode: expected 'top' or 'perfect', got 'best'"),
        ("[search]\nseed = 1979-05-27", "c.toml:2: search.seed: expected text, a number or true/false, got a date"),
        ("[search]\ncandidates = 2", "c.toml:1: search: parents = 4 exceeds candidates = 2"),
        ("[search]\nvotes = 2", "c.toml:1: search: votes = 2 is even"),
        ("search = 3", "c.toml:1: search: expected a table"),
        ("[search]\nseed =", "c.toml:2: not TOML"),
        ("effort = 'quik'", r"c.toml:1: effort: expected quick, standard, paper; got 'quik' \(did you mean quick\?\)"),
        ("effort = 3", "c.toml:1: effort: expected quick, standard, paper; got 3"),
        ("[budget]\nmax_cost = inf", "c.toml:2: budget.max_cost: expected a finite number"),
        ("[endpoints.a]\nmodel = 'b'", "c.toml:1: endpoints.a.base_url: expected a value: it is required"),
        (ONE + "concurrency = 'x'", "c.toml:6: endpoints.box.concurrency: expected a whole number or 'auto', got 'x'"),
        ("[endpoints.a]\nbase_url = 'box/v1'", "c.toml:2: endpoints.a.base_url: expected http"),
        ("[endpoints.'a.b']\nbase_url = 'http://x'", "c.toml:1: endpoints.a.b: expected a name of letters"),
        ("[endpoints.a]\nbase_url = 'http://x'\nprices = {inptu = 1}", r"c.toml:3: .*prices.inptu: .*mean input\?"),
        ("[roles.generater]", r"c.toml:1: roles.generater: unknown role \(did you mean generator\?\)"),
        ("[roles]\njudge = 1", "c.toml:2: roles.judge: expected a table"),
        (ONE + "[roles.judge]\nendpoint = 'bix'", r"c.toml:7: roles.judge.endpoint: no endpoint .*mean box\?"),
        (ONE + "[roles.judge]\ntemprature = 1", r"c.toml:7: roles.judge.temprature: .*mean temperature\?"),
        (ONE + "[roles.judge]\ntemperature = 3", "c.toml:7: roles.judge.temperature: expected at most 2.0, got 3"),
        ("[[verifier.judges]]\nname = 'a'\n[[verifier.judges]]\nname = 'a'", "c.toml:1: verifier: judge names must"),
        ("[[verifier.judges]]\nname = 'a'\nmod = 'free'", r"c.toml:3: verifier.judges.0.mod: .*mean mode\?"),
        ("[[verifier.judges]]\nname = 'a'\nendpoint = 'b'", "c.toml:3: verifier.judges.0.endpoint: no endpoint"),
        ("[verifier]\njudges = 3", "c.toml:2: verifier.judges: expected a list of tables, got 3"),
        ("[verifier]\njudges = []", "c.toml:2: verifier.judges: expected at least 1 entry, got a list"),
        ("[search]\nvotes = 'a'\nseed = 'b'", r"c.toml:2: search.votes: .*got 'a' \[and 1 more\]"),
    ],
)
def test_a_mistake_in_the_file_names_line_setting_and_remedy(text: str, expected: str) -> None:
    found = message(text)
    assert re.match(expected, found), found


@pytest.mark.parametrize(
    "line",
    [
        f'api_key = "{SECRET}"',
        f'api_key_env = "{SECRET}"',
        f'model = "{SECRET}"',
        'base_url = "https://user:hunter2@box/v1"',
        'base_url = "https://box/v1?key=hunter2"',
        'extra_body = {headers = {Authorization = "hunter2"}}',
        'extra_body = {x-api-key = "hunter2"}',
        'extra_body = {list = [{header = "Bearer hunter2"}]}',
        f'extra_body = {{anything = "{SECRET}"}}',
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(line: str) -> None:
    base = "" if line.startswith("base_url") else 'base_url = "https://box/v1"\n'
    found = message(f"[endpoints.default]\n{base}{line}\n")
    assert re.match(r"c.toml:[23]: endpoints.default\.", found), found
    assert "environment variable" in found
    assert SECRET not in found
    assert "hunter2" not in found


def test_bad_files() -> None:
    Path("latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputError, match="not UTF-8"):
        load_config(Path("latin.toml"), environ=SERVER)
    with pytest.raises(InputError, match="no such file"):
        load_config(Path("none.toml"), environ=SERVER)
    assert load("") == load()


class TestFlags:
    def test_text_is_read_as_what_the_setting_holds(self) -> None:
        found = load(
            ONE,
            {
                "search.lazy": "false",
                "search.finalist_mode": "perfect",
                "budget.max_cost": "2",
                "endpoints.box.model": "405",
                "endpoints.box.extra_body.top_k": "5",
                "endpoints.box.extra_body.chat_template": "none of it",
                "roles.judge.model": "true",
                "verifier.normaliser.method": "none",
                "verifier.judges": '[{name = "a"}]',
            },
        )
        assert (found.search.lazy, found.search.finalist_mode, found.budget.max_cost) == (False, "perfect", 2.0)
        assert found.endpoints["box"].model == "405"
        assert found.endpoints["box"].extra_body == {"top_k": 5, "chat_template": "none of it"}
        assert found.roles["judge"].model == "true"
        assert found.verifier.normaliser.method == "none"
        assert [judge.name for judge in found.verifier.judges] == ["a"]

    def test_none_lifts_a_limit(self) -> None:
        limited = load("[budget]\nmax_calls = 5\n")
        assert load("[budget]\nmax_calls = 5\n", {"budget.max_calls": "none"}).budget.max_calls is None
        assert with_overrides(limited, {"budget.max_calls": "none"}).budget.max_calls is None
        assert with_overrides(limited, {"budget.max_calls": 9}).budget.max_calls == 9

    def test_a_mistake_is_not_blamed_on_the_file(self) -> None:
        file = "[search]\nrounds = 3\n"
        assert message(file, {"search.rounds": "many"}).startswith("search.rounds: expected a whole number, got 'many'")
        assert message(file, {"search.candidates": 2}).startswith("search: parents = 4 exceeds candidates = 2")
        assert message(file, {"search.rouds": 2}) == "search.rouds: unknown setting (did you mean rounds?)"
        assert message(file, {"search.rounds.x": 2}).startswith("search.rounds: expected a table")
        assert message(file, effort="huge").startswith("--effort: expected quick, standard, paper; got 'huge'")
        assert message(None, {"endpoints.default.model": SECRET}).startswith("endpoints.default.model: this looks like")

    def test_an_override_of_stored_settings_is_checked_too(self) -> None:
        with pytest.raises(InputError, match="parents = 4 exceeds candidates = 1"):
            with_overrides(load(), {"search.candidates": 1})
        assert with_overrides(load(TWO.replace("box", "default")), {}) == load(TWO.replace("box", "default"))


def test_flat_names_show_every_difference_and_no_key() -> None:
    before, after = flatten(load(ONE)), flatten(load(ONE, {"search.rounds": 2}))
    assert {key for key in before if before[key] != after[key]} == {"search.rounds"}
    assert before["endpoints.box.prices.input"] == "2.0"
    assert before["verifier.judges.2.name"] == "free"
    assert before["budget.max_calls"] == ""
    assert all(isinstance(value, str) for value in before.values())


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(
    [
        "search",
        "roles",
        "judge",
        "endpoints",
        "default",
        "base_url",
        "candidates",
        "verifier",
        "judges",
        "0",
        "prices",
        "extra_body",
        "budget",
        "max_cost",
        "effort",
        "concurrency",
        "",
        "é",
    ]
)
FLAGS = st.dictionaries(st.lists(NAMES, min_size=1, max_size=4).map(".".join), SCALARS | st.lists(SCALARS), max_size=3)


@given(flags=FLAGS)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_flags_give_settings_or_one_line(flags: dict[str, object]) -> None:
    try:
        found = load(ONE, dict(flags))
    except InputError as error:
        str(error)
    else:
        assert RunSettings.model_validate_json(json.dumps(found.model_dump(mode="json"))) == found


@given(
    candidates=st.integers(1, 100),
    parents=st.integers(1, 100),
    votes=st.integers(1, 9),
    temperature=st.floats(0, 2),
    model=st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_typed_flags_arrive_as_they_are(
    candidates: int, parents: int, votes: int, temperature: float, model: str
) -> None:
    flags: dict[str, object] = {
        "search.candidates": candidates,
        "search.parents": parents,
        "search.votes": votes,
        "roles.judge.temperature": temperature,
    }
    if parents > candidates or votes % 2 == 0:
        with pytest.raises(InputError):
            load(ONE, flags)
        return
    found = load(ONE, flags)
    assert (found.search.candidates, found.search.parents, found.search.votes) == (candidates, parents, votes)
    assert found.roles["judge"].temperature == temperature

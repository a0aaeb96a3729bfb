"""The project's own taxonomy is sound; another file's faults are told with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxproof.problems import InputError
from maxproof.problems.data.taxonomy import UNKNOWN, load_taxonomy

DOMAIN = '[[domain]]\nname = "algebra"\ndescription = "Equations."\naliases = ["alg"]\n'
TECHNIQUE = '[[technique]]\nname = "induction"\ndomains = ["algebra"]\ndescription = "Step by step."\n'


def test_the_own_taxonomy_has_the_four_domains_with_their_techniques() -> None:
    taxonomy = load_taxonomy()
    assert [domain.name for domain in taxonomy.domains] == ["algebra", "combinatorics", "geometry", "number theory"]
    for domain in taxonomy.domains:
        assert len(taxonomy.techniques_of(domain.name)) >= 10
    assert taxonomy.techniques_of("unheard of") == taxonomy.techniques


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Number theory", "number theory"),
        ("number_theory", "number theory"),
        (" NT ", "number theory"),
        ("Counting & Probability", "combinatorics"),
        ("Geometry", "geometry"),
        ("A", "algebra"),
        ("Inequalities", "algebra"),
        ("cooking", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_sources_names_of_domains_are_known(text: str, domain: str) -> None:
    assert load_taxonomy().domain(text) == domain


def test_techniques_are_found_by_name_and_alias() -> None:
    taxonomy = load_taxonomy()
    assert taxonomy.technique("Pigeonhole Principle") == "pigeonhole"
    assert taxonomy.technique("vieta-jumping") == "Vieta jumping"
    assert taxonomy.technique("Hall’s theorem") == "matchings"
    assert taxonomy.technique("magic") is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[domain", 1, "not TOML"),
        (DOMAIN + "\n" + TECHNIQUE.replace("algebra", "algebr"), 8, "unknown domain 'algebr'"),
        (DOMAIN + DOMAIN.replace('"algebra"', '"geometry"'), 5, "both claim 'alg'"),
        (DOMAIN + TECHNIQUE + TECHNIQUE, 9, "given twice"),
        (DOMAIN + "weight = 1\n", 5, "Extra inputs"),
        (DOMAIN.replace('"algebra"', "3"), 2, "valid string"),
        (DOMAIN.replace('"algebra"', '"unknown"'), 1, "no name can be 'unknown'"),
        ("", None, "Field required"),
    ],
)
def test_faults_of_a_file_are_told_with_their_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = tmp_path / "taxonomy.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_taxonomy(path)
    assert caught.value.file == str(path)
    assert caught.value.line == line

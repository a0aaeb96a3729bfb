"""Domain and techniques by a model: only names of the taxonomy, or unknown."""

from __future__ import annotations

import pytest
from data_model_fakes import FixedCaller, record
from hypothesis import given
from hypothesis import strategies as st

from maxproof.problems.data.taxonomy import UNKNOWN, load_taxonomy
from maxproof.training.data.annotate import (
    AnnotateSettings,
    Annotator,
    LabelFault,
    Labels,
    read_labels,
    taxonomy_text,
)
from maxproof.training.data.calls import Unused

TAXONOMY = load_taxonomy()


def reply(domain: str, techniques: str) -> str:
    return f"I think so.\n<domain>{domain}</domain>\n<techniques>{techniques}</techniques>"


@pytest.mark.parametrize(
    ("domain", "techniques", "labels"),
    [
        ("algebra", "induction", Labels("algebra", ("induction",))),
        (
            " Number-Theory ",
            "Induction, proof by contradiction",
            Labels("number theory", ("induction", "contradiction")),
        ),
        ("NT", "strong induction, induction", Labels("number theory", ("induction",))),
        ("unknown", "unknown", Labels(UNKNOWN, ())),
        ("geometry", "none", Labels("geometry", ())),
        ("unknown", "invariants.", Labels(UNKNOWN, ("invariants",))),
    ],
)
def test_names_of_the_taxonomy_are_read(domain: str, techniques: str, labels: Labels) -> None:
    assert read_labels(reply(domain, techniques), TAXONOMY, 3) == labels


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("algebra", LabelFault.NO_DOMAIN),
        ("<domain>algebra</domain>", LabelFault.NO_TECHNIQUES),
        (reply("algebra", " , "), LabelFault.NO_TECHNIQUES),
        (reply("astrology", "induction"), LabelFault.DOMAIN),
        (reply("", "induction"), LabelFault.DOMAIN),
        (reply("algebra", "magic"), LabelFault.TECHNIQUE),
        (reply("algebra", "induction, unknown"), LabelFault.TECHNIQUE),
        (reply("algebra", "induction, contradiction, invariants, construction"), LabelFault.TOO_MANY),
        (reply("algebra", "induction") + reply("geometry", "induction"), LabelFault.SEVERAL),
        (reply("algebra", "x," * 100_000), LabelFault.TECHNIQUE),
    ],
)
def test_anything_else_is_refused(text: str, fault: LabelFault) -> None:
    assert read_labels(text, TAXONOMY, 3) is fault


@given(st.text(alphabet="<>/domaintechniques,unknow \n", max_size=300))
def test_nothing_outside_the_taxonomy_gets_through(text: str) -> None:
    found = read_labels(text, TAXONOMY, 2)
    if isinstance(found, Labels):
        assert found.domain == TAXONOMY.domain(found.domain)
        assert len(found.techniques) <= 2
        assert all(TAXONOMY.technique(name) == name for name in found.techniques)


async def test_a_record_is_sorted_and_says_by_whom() -> None:
    caller = FixedCaller(lambda call, blocks: reply("algebra", "induction"))
    done = await Annotator(AnnotateSettings(), TAXONOMY, caller).annotate(record())
    assert not isinstance(done, Unused)
    assert (done.domain, done.techniques) == ("algebra", ("induction",))
    assert dict(done.provenance[-1].notes) == {"model": "fixed", "replies": 1, "model_domain": "algebra"}
    assert "- induction (algebra, combinatorics, number theory): " in caller.prompts[0]


async def test_an_answer_outside_is_asked_again_then_rejected() -> None:
    replies = iter([reply("astrology", "induction"), reply("unknown", "unknown")])
    caller = FixedCaller(lambda call, blocks: next(replies))
    done = await Annotator(AnnotateSettings(), TAXONOMY, caller).annotate(record())
    assert not isinstance(done, Unused)
    assert (done.domain, done.techniques) == (UNKNOWN, ())
    assert str(LabelFault.DOMAIN) in caller.prompts[1]
    stubborn = FixedCaller(lambda call, blocks: reply("astrology", "induction"))
    found = await Annotator(AnnotateSettings(replies=2), TAXONOMY, stubborn).annotate(record())
    assert found == Unused(f"no usable answer after 2: {LabelFault.DOMAIN}")


async def test_what_the_source_says_stays() -> None:
    caller = FixedCaller(lambda call, blocks: reply("algebra", "induction"))
    annotator = Annotator(AnnotateSettings(), TAXONOMY, caller)
    whole = record(domain="geometry", techniques=("invariants",))
    assert await annotator.annotate(whole) is whole
    assert caller.calls == []
    domain_only = await annotator.annotate(record(domain="geometry"))
    assert not isinstance(domain_only, Unused)
    assert (domain_only.domain, domain_only.techniques) == ("geometry", ("induction",))
    assert domain_only.provenance[-1].notes["model_domain"] == "algebra"
    strange = await annotator.annotate(record(domain="puzzles", techniques=("invariants",)))
    assert not isinstance(strange, Unused)
    assert (strange.domain, strange.techniques) == ("algebra", ("invariants",))
    replaced = await Annotator(AnnotateSettings(replace=True), TAXONOMY, caller).annotate(whole)
    assert not isinstance(replaced, Unused)
    assert (replaced.domain, replaced.techniques) == ("algebra", ("induction",))


def test_the_list_holds_every_name() -> None:
    text = taxonomy_text(TAXONOMY)
    assert all(f"- {domain.name}: " in text for domain in TAXONOMY.domains)
    assert all(f"- {technique.name} (" in text for technique in TAXONOMY.techniques)

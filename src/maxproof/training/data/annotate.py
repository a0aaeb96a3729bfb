"""`maxproof data annotate`: a model names the domain of a problem and the techniques of its solution.

    labels = read_labels(reply, taxonomy, most=3)     # names of the taxonomy, or what is wrong with the reply
    result = await Annotator(settings, taxonomy, caller).annotate(record)

Names must be those of the taxonomy (an alias counts as its name); `unknown` is an answer. Any other name is asked
again with the fault named, and a record that never gets an answer within the taxonomy goes to the reject file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from maxproof.models.call_key import inputs_digest
from maxproof.models.types import Caller
from maxproof.problems.data.files import provenance, settings_digest
from maxproof.problems.data.record import DataRecord
from maxproof.problems.data.taxonomy import UNKNOWN, Taxonomy, folded
from maxproof.training.data.calls import Question, Unused, ask_read, blocks, record_number

MAX_NAMES = 100
"""Of techniques in one reply that are looked at."""


class AnnotateSettings(BaseModel):
    """How problems are sorted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    techniques: int = Field(3, ge=1, le=20, description="techniques of one problem at most")
    replies: int = Field(3, ge=1, le=10, description="replies asked for at most, until one can be used")
    replace: bool = Field(False, description="ask also where a record has a domain and techniques, and replace them")


class LabelFault(StrEnum):
    """Why a reply names nothing of the taxonomy, in words that can be shown to the model."""

    NO_DOMAIN = "there was no <domain> block that is closed"
    NO_TECHNIQUES = "there was no <techniques> block that is closed"
    SEVERAL = "there were several blocks of one kind that differ"
    DOMAIN = "the domain was none of the list"
    TECHNIQUE = "a technique was none of the list"
    TOO_MANY = "there were too many techniques"


@dataclass(frozen=True, slots=True)
class Labels:
    """`domain` is a name of the taxonomy or UNKNOWN; `techniques` are names of the taxonomy, each once; empty: none
    known."""

    domain: str
    techniques: tuple[str, ...]


def read_labels(text: str, taxonomy: Taxonomy, most: int) -> Labels | LabelFault:
    """What a reply names, at most `most` techniques. Linear in the length of the text; never raises.

    Blocks of one kind that differ name nothing, since one may be quoted from a problem.
    """
    domains = {folded(block) for block in blocks(text, "domain")}
    lists = {folded(" ".join(block.split())) for block in blocks(text, "techniques")}
    if not domains:
        return LabelFault.NO_DOMAIN
    if not lists:
        return LabelFault.NO_TECHNIQUES
    if len(domains) > 1 or len(lists) > 1:
        return LabelFault.SEVERAL
    (named,) = domains
    domain = taxonomy.domain(named)
    if domain == UNKNOWN != named:
        return LabelFault.DOMAIN
    names = [name for part in lists.pop().split(",", MAX_NAMES) if (name := part.strip(" .;"))]
    if names in ([UNKNOWN], ["none"]):
        return Labels(domain, ())
    if not names:
        return LabelFault.NO_TECHNIQUES
    found = [taxonomy.technique(name) for name in names]
    known = tuple(dict.fromkeys(name for name in found if name is not None))
    if len(names) > len([name for name in found if name is not None]):
        return LabelFault.TECHNIQUE
    return Labels(domain, known) if len(known) <= most else LabelFault.TOO_MANY


def taxonomy_text(taxonomy: Taxonomy) -> str:
    """The list that a model chooses from."""
    domains = [f"- {domain.name}: {domain.description}" for domain in taxonomy.domains]
    techniques = [
        f"- {technique.name} ({', '.join(technique.domains)}): {technique.description}"
        for technique in taxonomy.techniques
    ]
    return "\n".join(["Domains:", *domains, "", "Techniques, with the domains where they are used:", *techniques])


class Annotator:
    """Sorts problems by one taxonomy."""

    def __init__(self, settings: AnnotateSettings, taxonomy: Taxonomy, caller: Caller) -> None:
        self._settings = settings
        self._taxonomy = taxonomy
        self._list = taxonomy_text(taxonomy)
        self._caller = caller
        self.digest = settings_digest({**settings.model_dump(mode="json"), "taxonomy": inputs_digest(self._list)})

    async def annotate(self, record: DataRecord) -> DataRecord | Unused:
        """The record with the domain and the techniques that were missing.

        What it has from its source stays, if the taxonomy knows it, unless it is replaced; a record that has both is
        not asked about.
        """
        kept = self._taxonomy.domain(record.domain) if record.domain and not self._settings.replace else UNKNOWN
        if kept != UNKNOWN and record.techniques and not self._settings.replace:
            return record
        fenced = {"taxonomy": self._list, "problem": record.statement, "reference": record.reference}
        own = {"most": str(self._settings.techniques)}
        question = Question("annotate", record_number(record), fenced, own)
        found = await ask_read(
            self._caller,
            question,
            lambda text: read_labels(text, self._taxonomy, self._settings.techniques),
            self._settings.replies,
        )
        if isinstance(found, Unused):
            return found
        entry = provenance(
            "annotate", self.digest, model=found.model, replies=found.replies, model_domain=found.form.domain
        )
        techniques = record.techniques if record.techniques and not self._settings.replace else found.form.techniques
        return record.after(entry, domain=found.form.domain if kept == UNKNOWN else kept, techniques=techniques)

"""Layer 2 by a model: it rewrites the proof, the content guard checks it, and the rules stand in where it fails."""

from __future__ import annotations

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import AnswerState, Call, CallAddress, Caller, CallFailed
from maxproof.verifier.content_guard import mathematics, too_long, violation
from maxproof.verifier.judges import PACKAGE
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.types import Normalisation


async def normalise_by_model(caller: Caller, candidate: int, text: str) -> tuple[str, Normalisation]:
    """The text the judges see, and how it was made: `model`, or `rule` with the reason in `fallback`.

    Raises `CallNotRun` when the call was not made: then nothing can be said of the candidate.
    """
    template = load_template(PACKAGE, "normalise")
    call = Call(
        address=CallAddress("normaliser", "normalise", candidate),
        template=template.id,
        inputs=inputs_digest(text),
        prompt=lambda: template.render({"candidate": text}),
    )
    by_rule, stripped = normalise_text(text)
    try:
        answer = await caller.ask(call)
    except CallFailed as failure:
        return by_rule, Normalisation("rule", stripped, f"the normaliser gave no answer ({failure.kind})")
    rewrite = answer.text.strip()
    if answer.state is not AnswerState.COMPLETE or not rewrite:
        refused = f"the normaliser's answer is {answer.state}"
    elif too_long(text, rewrite):
        refused = f"the rewrite has {len(rewrite)} characters, the original {len(text)}"
    else:
        refused = violation(mathematics(text), mathematics(rewrite), required=mathematics(by_rule))
    if refused:
        return by_rule, Normalisation("rule", stripped, refused)
    return rewrite, Normalisation("model")

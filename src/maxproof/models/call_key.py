"""What makes two calls the same call: the journal's key, and the sampling seed that follows from the address.

The key holds everything that changes an answer, the sample index included, and not the prompt's text: `inputs` (a
digest made by the role) and the template id stand for it, so that a recorded answer is found without building a prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace

from maxproof.models.bindings import Binding
from maxproof.models.schemes import is_embedded
from maxproof.models.types import Call, CallAddress

_USER = re.compile(r"(?<=//)[^/]*@")
_QUERY = re.compile(r"[?#].*\Z", re.DOTALL)


def call_key(call: Call, sampler: str) -> bytes:
    """32 bytes, SHA-256 over the address, template, inputs digest and the `sampler_digest` of the call's binding."""
    return _digest(*_address_fields(call.address), call.template, call.inputs, sampler)


def sampler_digest(binding: Binding, seed: int) -> str:
    """Hex SHA-256 (16 digits) of what samples an answer: endpoint, model, sampling, extra body, the run's seed and
    whether seeds are sent.

    Limits, prices, keys, passwords and timeouts are not part of it: they change no answer.
    """
    sampling = binding.sampling
    return _digest(
        _without_user(binding.settings.base_url).rstrip("/"),
        binding.model,
        sampling.temperature,
        sampling.top_p,
        sampling.max_tokens,
        json.dumps(binding.settings.extra_body, sort_keys=True, default=str),
        binding.settings.send_seed,
        seed,
    ).hex()[:16]


def call_seed(seed: int, address: CallAddress) -> int:
    """The seed that is sent to the server: 31 bits of SHA-256 over the run's seed and the address, plus the sample.

    Samples of one prompt count up, as they do where a server takes `n` or a client asks one by one in its place: a
    sample has the same seed whether or not it was known by then that the server can't do it.
    """
    first = _digest(seed, *_address_fields(replace(address, sample=0)))
    return (int.from_bytes(first[:4], "big") + address.sample) & 0x7FFFFFFF


def public_url(base_url: str) -> str:
    """`base_url` without user, password, query and final slash: what may be stored and shown."""
    return base_url if is_embedded(base_url) else _QUERY.sub("", _without_user(base_url)).rstrip("/")


def _without_user(base_url: str) -> str:
    return _USER.sub("", base_url)


def inputs_digest(*parts: str | None) -> str:
    """SHA-256 (hex) of texts, for `Call.inputs`; None differs from "" and no two sequences run together."""
    result = hashlib.sha256()
    for part in parts:
        data = b"" if part is None else part.encode("utf-8", "surrogatepass")
        result.update(b"-" if part is None else b"%d:" % len(data))
        result.update(data)
    return result.hexdigest()


def _address_fields(address: CallAddress) -> tuple[str | int, ...]:
    return (address.role, address.task, address.candidate, address.sample, address.judge, address.attempt)


def _digest(*fields: str | int | float) -> bytes:
    # Lengths keep the fields apart: ("ab", "c") and ("a", "bc") differ.
    texts = [str(field) for field in fields]
    joined = ",".join([str(len(text)) for text in texts]) + ":" + "".join(texts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()

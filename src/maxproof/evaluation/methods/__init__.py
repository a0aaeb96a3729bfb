"""Ways from a problem to a proof, to be compared: the MaxProof search and what people use beside it.

    outcome = await METHODS["pool"](problem, search, verifier, caller, unlimited)

All take their prompts, their verifier and, as far as they have the same ones, their sizes from the search, so that they
differ by what they do. `docs/methods.md` says what each does, and which published numbers it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from maxproof.evaluation.methods.types import Method

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "search": "MaxProof search",
        "one_shot": "one proof",
        "best_of": "best-of-N with verification and tournament",
        "verify_repair": "verify-repair loop",
        "pool": "pool of mean-scored proofs",
        "knockout": "consolidation and knock-out",
    }
)
"""What the methods are called in reports, by name."""


class _Methods(Mapping[str, Method]):
    """A method's module `NAME.py` has the function `run`; it is imported when the method is asked for."""

    def __getitem__(self, name: str) -> Method:
        if name not in TITLES:
            raise KeyError(name)
        return cast(Method, import_module(f"{__name__}.{name}").run)

    def __iter__(self) -> Iterator[str]:
        return iter(TITLES)

    def __len__(self) -> int:
        return len(TITLES)


METHODS: Mapping[str, Method] = _Methods()
"""The methods by name. Raises KeyError for an unknown one."""


def unlimited() -> bool:
    """A `Left` without a budget."""
    return True

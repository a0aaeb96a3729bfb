"""The versions of Dafny that programs are printed for."""

from __future__ import annotations

from enum import StrEnum


class Dialect(StrEnum):
    """In Dafny 2.3 a `function` is a ghost; from Dafny 4 on it is compiled unless it says `ghost function`."""

    DAFNY_2_3 = "dafny-2.3"
    DAFNY_4 = "dafny-4"

"""The Dafny on this machine."""

import shutil

import pytest

needs_dafny = pytest.mark.skipif(shutil.which("dafny") is None, reason="Dafny 2.3 isn't installed (apt install dafny)")

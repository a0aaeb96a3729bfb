"""Line numbers of TOML keys."""

from __future__ import annotations

import pytest

from maxproof.problems.toml import line_of

TEXT = '''# a comment
effort = "quick"

[endpoints.default]
base_url = """
[search]
candidates = 3
"""
model = "m"  # [roles]

[endpoints]
other = { model = "x",  base_url = "y" }
[search]

# candidates = 1
candidates = 8
list = [
  1,
  2,
]
[[verifier.judges]]
name = "a"
[[verifier.judges]]
"name" = "b"
roles.judge.model = "z"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("effort",), 2),
        (("endpoints",), 4),
        (("endpoints", "default", "base_url"), 5),
        (("endpoints", "default", "model"), 9),
        (("endpoints", "other", "base_url"), 12),
        (("search",), 13),
        (("search", "candidates"), 16),
        (("search", "list", 1), 17),
        (("verifier", "judges", 0, "name"), 22),
        (("verifier", "judges", 1), 23),
        (("verifier", "judges", 1, "name"), 24),
        (("verifier", "judges", 1, "roles", "judge", "model"), 25),
        (("roles",), None),
        (("effort", "x"), None),
        (("verifier", "judges", 2), None),
    ],
)
def test_the_line_on_which_a_key_comes_in(path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(TEXT, path) == line

"""What is to be proved: problems, and how they are read."""

from maxproof.problems.errors import InputError
from maxproof.problems.problem import Problem

__all__ = ["InputError", "Problem"]

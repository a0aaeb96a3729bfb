"""What is to be proved: problems, and how they are read."""

from maxproof.problems.errors import InputError
from maxproof.problems.load import load_problem, load_problems
from maxproof.problems.problem import Problem
from maxproof.problems.text import read_proof

__all__ = ["InputError", "Problem", "load_problem", "load_problems", "read_proof"]

"""What is to be proved: problems, and how they are read."""

from maxproof.problems.errors import InputError
from maxproof.problems.load import load_problem, load_problems, read_proof
from maxproof.problems.problem import Problem

__all__ = ["InputError", "Problem", "load_problem", "load_problems", "read_proof"]

"""Preparing problems for training with a model: `rubric`, `annotate`, `filter`. Their record is in `problems.data`."""

"""Preparing problems for training: records with provenance, and the steps that need no model.

The steps that ask a model (`rubric`, `annotate`, `filter`) are in `maxproof.training.data`.
"""

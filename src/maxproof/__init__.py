"""MaxProof: from a mathematical problem to a proof that can be trusted."""

__version__ = "0.1.0"

"""A small proof world with an exact oracle: problems, proofs in controlled English, and judges with known faults."""

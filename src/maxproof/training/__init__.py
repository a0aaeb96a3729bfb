"""Trains the experts and merges them; serves the verifier as a reward to other trainers. Needs the extra `train`."""

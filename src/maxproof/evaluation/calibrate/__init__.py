"""A verifier's card: how often it is wrong on graded proofs, per judge and for the minimum. See `card.py`."""

"""The four-layer verifier."""

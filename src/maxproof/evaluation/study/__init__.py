"""What is the search worth? A simulator with known, correlated errors, and the same questions asked of real models."""

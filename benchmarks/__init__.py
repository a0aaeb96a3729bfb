"""What MaxProof costs in time, CPU, memory and calls. `python -m benchmarks` runs all of it; see docs/benchmarks.md."""

"""Several experts of one base become one model.

`settings.py` says what to do; `formulas.py` has the mathematics, tensor by tensor; `shards.py` reads and writes
checkpoints in bounded memory; `checks.py` knows what makes two checkpoints unmergeable; `run.py` merges folders;
`smoke.py` lets the result say something; `mergekit.py` writes the same merge as mergekit's YAML; `weights.py` searches
weights on a validation score.
"""

"""`maxproof eval`: a method over the problems of a dataset, graded by an oracle; one process, shards, or a cluster."""

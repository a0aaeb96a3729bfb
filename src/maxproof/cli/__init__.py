"""The `maxproof` command."""

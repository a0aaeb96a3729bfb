"""The population search."""

"""Measures what the system is worth."""

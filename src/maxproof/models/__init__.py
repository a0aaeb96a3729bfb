"""Who does the work: endpoints, limits, the call journal."""

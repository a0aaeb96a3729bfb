"""Who says what a proof is really worth: an oracle that the methods under evaluation never ask."""

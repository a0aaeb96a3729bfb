"""Ways to get a proof from a model, all over one `Caller`, so that they can be compared on one journal."""

"""SQL under policies: a query is decided, cut down to what may be read, and run."""

"""Several processes that answer the calls of one service."""

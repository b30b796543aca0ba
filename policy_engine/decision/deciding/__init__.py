"""How one request is answered: the rules it is held against, and what is said of it."""

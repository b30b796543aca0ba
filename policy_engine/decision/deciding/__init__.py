"""How one request is answered: which rules match it, and the decision that follows."""

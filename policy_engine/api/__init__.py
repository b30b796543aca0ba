"""The verbs, as Python calls them: each from the texts that a user gives to an answer."""

"""The verbs as Python functions, from the user's texts and paths to results."""

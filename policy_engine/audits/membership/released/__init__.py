"""Released models: only what inference needs, in files that do not run code."""

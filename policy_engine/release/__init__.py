"""Where the sanitised data lies, or the model, and its digest."""

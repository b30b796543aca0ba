"""Where the sanitised data or the model is, and its digest."""

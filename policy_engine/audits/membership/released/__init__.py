"""Models as they are released: what inference needs and no more, in files that run no code."""

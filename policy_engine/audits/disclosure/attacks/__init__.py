"""The attacks, one module each: each takes two files and returns links, or why it was not run."""

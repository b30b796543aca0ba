"""A policy's text to a Policy: strict, complete in its complaints, and offline."""

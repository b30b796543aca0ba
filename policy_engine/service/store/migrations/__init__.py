"""How the database changed from version to version, a file for each step."""

NEWEST = "signatures"
"""The last step: a database that has it needs none, and none is looked for."""

"""How the database changed from version to version, a file for each step."""

"""For who writes policies: checks, schemas, drawings, differences and tests of policies."""

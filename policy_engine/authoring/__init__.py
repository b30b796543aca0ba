"""For authors of policies: checks, schemas, diagrams, differences and policy tests."""

"""What the service keeps, in a database."""

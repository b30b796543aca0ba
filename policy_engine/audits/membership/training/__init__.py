"""Training of many dense networks at once, with or without differential privacy."""

"""What is done with every call, whatever it asks."""

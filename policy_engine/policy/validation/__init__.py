"""What is wrong with a policy as a whole, once all its parts are known."""

"""Statistics under differential privacy: what is asked for, and the noise that it needs."""

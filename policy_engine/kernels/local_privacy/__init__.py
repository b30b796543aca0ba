"""Local differential privacy: values randomised one by one, and what is estimated from many."""

"""What will be done, as a policy asks for it: typed steps, bound to data and an engine."""

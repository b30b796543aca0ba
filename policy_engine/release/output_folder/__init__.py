"""A folder of outputs for a checker: what is asked for, why, what was decided, and by whom."""

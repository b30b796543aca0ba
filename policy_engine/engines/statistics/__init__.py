"""The exact statistics of a table: what a row adds, whose rows are used, what they sum to."""

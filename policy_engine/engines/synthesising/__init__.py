"""Synthetic rows: generators that learn a table, one file each, and what is checked of theirs."""

"""Checks of the results of analyses before they are shown: evidence, rules, verdicts."""

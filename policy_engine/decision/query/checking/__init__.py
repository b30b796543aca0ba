"""Answers that pass output checks before they are shown, against all that was shown before."""

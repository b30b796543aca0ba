"""Policies from files, folders and registries, and which of them are in force."""

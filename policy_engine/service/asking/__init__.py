"""Queries, answered in processes of their own that are limited, and ended when they have to be."""

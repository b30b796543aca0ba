"""Literals of XML Schema: from their text to values, and how these compare."""

"""Compile the kernels that take seconds, so that the processes of the tests find them on disk."""

from applying import applied

AGES = {"age": [20, 21, 40, 41], "ill": ["flu", "cold"] * 2}
ASKED = {"k": 2, "quasi": ["age"], "sensitive": ["ill"], "method": "l-diversity", "l": 2}

if __name__ == "__main__":
    applied(AGES, **ASKED, polish=True)
    applied(AGES, **ASKED, algorithm="full-domain")

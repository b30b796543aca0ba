"""What Spark hashes of files. It is known without PySpark, as those need it who verify."""

MOST_HASHED = 2**29
"""The bytes of a file that a task hashes; of data with a larger one, the digest is of the rows."""

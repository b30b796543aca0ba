"""The Spark engine: the same plan on a cluster, by its DataFrame API alone."""

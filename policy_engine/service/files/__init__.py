"""The files that the service keeps, each named by the digest of its content."""

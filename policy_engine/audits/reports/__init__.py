"""A comparison or an audit as one HTML page that needs nothing else."""

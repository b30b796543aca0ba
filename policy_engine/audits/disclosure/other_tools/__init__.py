"""Releases without a certificate: what their cells mean, as far as their spelling tells."""

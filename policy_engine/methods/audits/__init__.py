"""Audits that a policy can ask for, and the models that they attack."""

"""What was measured on the output itself; no certificate, no release."""

"""Tables randomised record by record: what every cell counts as, and what is published for it."""

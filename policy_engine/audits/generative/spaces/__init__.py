"""Where distances of records are taken: fitted on what is public, never on audited records."""

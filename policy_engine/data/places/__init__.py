"""Places of tables that are neither one file nor one folder, a module for each kind."""

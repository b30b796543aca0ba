"""How a table is transformed and measured: pure functions, arrays in, arrays out."""

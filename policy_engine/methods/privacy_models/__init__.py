"""Privacy models: each a bound that every equivalence class of a release keeps."""

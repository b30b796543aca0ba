"""What the files of a released model reveal by themselves, whatever the model answers."""

"""What the files of a released model give away by themselves, whatever the model answers."""

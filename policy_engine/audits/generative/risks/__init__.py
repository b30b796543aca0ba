"""What synthetic tables tell of persons beyond who was a member: shares, each with its control."""

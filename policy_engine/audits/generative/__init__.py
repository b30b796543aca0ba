"""What synthetic records and generative models disclose of the records they were made from."""

"""What can be told of a release without looking for single persons: classes, uniques, values."""

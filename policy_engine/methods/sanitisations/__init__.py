"""The methods that bound nothing by themselves, one file per method."""

"""Models that somebody has fitted already, attacked as they are."""

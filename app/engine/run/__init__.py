"""One run while it goes on: its record, limits, money, what people decide on it."""

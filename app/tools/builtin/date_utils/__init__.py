"""Dates and times as people write them, read, calculated with and moved between time zones."""

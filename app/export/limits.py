"""How large a bundle may be: apart from the format, for a door that reads none."""

LARGEST_BUNDLE = 128 * 1024 * 1024
"""Bytes of a bundle that is taken in."""

"""How large a bundle and a dataset may be: apart from the formats, for a door that reads none."""

LARGEST_BUNDLE = 128 * 1024 * 1024
"""Bytes of a bundle that is taken in."""
LARGEST_DATASET = 32 * 1024 * 1024
"""Bytes of a file of cases that is taken in, and of all that is read out of one that is packed."""

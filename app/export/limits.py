"""How large files may be that are taken in, and figures in them: apart from the formats, for a door that reads none."""

LARGEST_BUNDLE = 128 * 1024 * 1024
"""Bytes of a bundle that is taken in."""
MOST_AMOUNT = 10**15
"""Tokens or milliseconds that can be said of one call."""
MOST_COST = 10**9
"""US dollars that can be said of one call."""
LARGEST_AGENT = 16 * 1024 * 1024
"""Bytes of an agent's file that is taken in: of a workflow's too, where nothing tells yet which it is."""
LARGEST_DATASET = 32 * 1024 * 1024
"""Bytes of a file of cases that is taken in, and of all that is read out of one that is packed."""

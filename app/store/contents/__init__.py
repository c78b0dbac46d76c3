"""Artifacts by their hash, and the signed links to them."""

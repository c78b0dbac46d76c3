"""Attacks and accidents, and what survives them."""

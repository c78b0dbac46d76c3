"""Runs that ended, sent on as spans to a collector that somebody else runs."""

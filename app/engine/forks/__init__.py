"""Runs gone on with from one of their steps, and replayed."""

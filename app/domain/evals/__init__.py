"""Judging runs: what people and programs say of them, and what that shows."""

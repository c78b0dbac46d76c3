"""Evals: datasets with their cases and scorers, and experiments on them."""

"""Workflows: graphs of nodes that are agents; what they say, how they are changed, checked, laid out and walked."""

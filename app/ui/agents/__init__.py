"""The agents, their editor and their variants."""

"""A package, as ADK's API server wants its agents to be."""

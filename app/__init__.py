"""Agent Playground: try out, watch and improve AI agents on your own machine."""

__version__ = "0.1.0"

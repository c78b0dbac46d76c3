"""Agent Playground: try out, watch and improve AI agents on your own machine."""

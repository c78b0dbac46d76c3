"""How the process itself fares: what it takes, how long its event loop stands still, and what was slow."""

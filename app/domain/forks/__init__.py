"""How a run is gone on with: what is edited, copied and compared."""

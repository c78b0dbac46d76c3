"""What happens in a run, told only through ports: the engine knows no provider, no file and no page."""

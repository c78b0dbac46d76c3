"""From a double-click to the app being there: serve, show, or find the one that runs."""

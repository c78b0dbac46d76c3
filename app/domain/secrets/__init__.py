"""What the app knows of secrets: those it holds itself, and the shapes by which others are told."""

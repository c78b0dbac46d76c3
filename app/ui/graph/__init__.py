"""A workflow as it is shown wherever it stands: the canvas, and how its nodes are told."""

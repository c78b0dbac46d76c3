"""The same message to several variants or models, side by side."""

"""A better prompt for an agent: asked for, searched, looked at, saved as a variant."""

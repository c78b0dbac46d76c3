"""Elements that two rooms or more use."""

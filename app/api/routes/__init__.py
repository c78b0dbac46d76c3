"""REST, a file for each kind of thing."""

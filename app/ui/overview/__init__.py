"""What waits for a person, how the week went, how things stand; the first page."""

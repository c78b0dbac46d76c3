"""Who comes in and may do what, for every request and socket; the shape of every reply."""

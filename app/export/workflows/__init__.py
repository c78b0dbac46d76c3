"""Ways out of a workflow: a file that is read back, a drawing for documents."""

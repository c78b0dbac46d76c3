"""The tools: called by hand, their sources, files, servers and requests."""

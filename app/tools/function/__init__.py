"""A Python function as a tool: its signature as a schema, its output as parts."""

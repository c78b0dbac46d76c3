"""Tools of MCP servers. What needs the MCP library is imported when the first server is connected."""

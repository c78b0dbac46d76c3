"""The agents as tools of MCP: at `/mcp`, and for the bridge that serves them over stdio."""

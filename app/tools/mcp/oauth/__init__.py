"""Signing in at MCP servers that ask for it. What needs the MCP library is imported with the first sign-in."""

"""What a person agrees to of an MCP server: what would be started or asked, and tools that are not what they were."""

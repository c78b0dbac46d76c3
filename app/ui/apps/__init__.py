"""Views of MCP Apps in a conversation: the frame each is shut away in, and what it asks of a person."""

"""Keys and code for programs that call agents."""

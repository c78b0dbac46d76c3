"""The same agents for clients of OpenAI's API."""

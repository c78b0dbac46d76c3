"""The adapter to LiteLLM, which alone knows it."""

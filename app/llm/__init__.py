"""Models: the built-in demo, everything LiteLLM reaches, and what is known of them before they are called."""

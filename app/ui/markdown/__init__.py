"""Text of models and tools, rendered and cleaned; code in colours."""

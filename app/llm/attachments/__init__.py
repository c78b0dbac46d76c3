"""How files and pictures reach a model: decided by what it takes, made smaller, or kept with its provider."""

"""How scorers judge that need neither a model nor a file: pure functions from evidence to an opinion."""

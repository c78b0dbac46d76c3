def soup(of: str) -> str:
    """Cook a soup."""
    return f"A soup of {of}"

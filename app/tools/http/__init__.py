"""Tools that ask the web, and the guard that says which hosts they may ask."""

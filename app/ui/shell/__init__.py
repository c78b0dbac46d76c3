"""What is around every page: navigation, palette, theme, the router."""

"""Keys of providers, and the browsers that are signed in."""

"""Build: workflows as cards, and the editor of one, a canvas and a list over the same document."""

"""Ways out of a run: Markdown, HTML, JSON lines, spans, bundles; and the way in of a bundle."""

"""Charts as SVG text made by the server: read, tabbed through, and shown as a table; no library draws them."""

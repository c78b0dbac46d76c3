"""Tools: typed functions that a model may call.

`tool` turns a function into a tool, `registry` keeps the tools and runs their calls, `builtin` holds those the app
brings along. A tool's function is all that its author writes: name, description and JSON Schema come from its
signature and docstring.
"""

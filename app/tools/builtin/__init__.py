"""The tools that the app brings along: one file per tool or kit."""

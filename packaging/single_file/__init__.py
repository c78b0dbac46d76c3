"""The single file: a small starter that unpacks the folder once, for exactly its own build, and runs it from there."""

FILE_VARIABLE = "AGENT_PLAYGROUND_FILE"
"""Tells `app.paths` the single file: the data folder may be beside it, and others start the app by it."""
STARTER_VARIABLE = "AGENT_PLAYGROUND_STARTER"
"""Tells `launcher.py` the boot loader's process, which waits for the app, and the folder it will remove then."""

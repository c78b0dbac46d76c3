"""Tools that the user wrote: Python files in a folder, each run in a process of its own once its owner allowed it.

`folder` is what the app holds: `UserTools`. What is on disk: `reading`, `watching`, `preview` and `script_block`; none
of these runs a file. Which may run: `trust`. What runs: `tool_file` and the `version` it loaded. What a page changes:
`editing`.
"""

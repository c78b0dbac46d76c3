"""What the workbench talks about: messages, agents, runs, events. Plain values and pure functions, no I/O."""

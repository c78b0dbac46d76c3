"""A conversation: messages, answers, tool cards, the composer."""

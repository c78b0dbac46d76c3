"""Choose an agent and talk to it."""

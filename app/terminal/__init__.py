"""What is done without a page: run an agent, export, manage keys."""

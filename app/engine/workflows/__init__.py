"""A workflow's run: its nodes begin as the schedule says, each as soon as what it waits for has ended."""

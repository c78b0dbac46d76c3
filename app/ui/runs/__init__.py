"""The list of runs and the list of jobs."""

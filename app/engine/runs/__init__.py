"""All runs: begun, resumed, ended, left, found again, listed."""

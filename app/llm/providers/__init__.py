"""The providers there are: models, keys, addresses, what is wrong with one."""

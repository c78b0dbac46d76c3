"""Settings: providers, data, looks, about."""

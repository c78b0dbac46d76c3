"""The data folder itself: lock, schema, backups, what comes from elsewhere."""

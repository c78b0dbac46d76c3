"""All that is kept, in one data folder."""

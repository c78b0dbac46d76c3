"""The guide to the first answer."""

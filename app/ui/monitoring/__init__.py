"""The page of what goes on now, how it went lately, and how the app itself fares."""

"""Tables turned into what is needed: CSV and JSON, rows chosen, sorted, summed up and joined."""

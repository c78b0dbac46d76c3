"""What people do with runs: talk, queue, compare, hand out jobs, decide on pauses."""

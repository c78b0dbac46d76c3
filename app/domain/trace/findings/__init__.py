"""What stands out in a run, and why it went as it did."""

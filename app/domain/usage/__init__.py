"""What all runs together did, took and cost, day by day: figures that add up, and the questions asked of them."""

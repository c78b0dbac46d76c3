"""What is read out of texts and JSON that others wrote: numbers, JSON in a fence, what an expression finds."""

"""What is read of what others wrote: numbers, names of files, JSON in a fence, what an expression finds."""

"""Datasets as files: ours and those of other programs, a file a format. What is read in here is never run.

Each reader gives cases, scorers, and a sentence for each kind of thing that it could not take.
"""

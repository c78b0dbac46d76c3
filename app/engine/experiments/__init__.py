"""Trying agents on datasets: where cases come from, what is planned and run over them, and how it is scored."""

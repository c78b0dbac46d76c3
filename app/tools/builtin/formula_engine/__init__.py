"""Spreadsheet formulas over rows, read by a grammar and never run as Python."""

"""TinyDB over an append-only journal: tables, documents, one writer, the disk."""

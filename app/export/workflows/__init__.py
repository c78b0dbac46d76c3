"""Ways out of a workflow: a file that is read back, a drawing for documents, its nodes in the exports of a run."""

"""The page of the matrix: an experiment's cases by its columns, and each cell beside the baseline's."""

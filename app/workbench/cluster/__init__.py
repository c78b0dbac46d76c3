"""Other machines that try cells of experiments: how they are reached over Dask, and what each of them does."""

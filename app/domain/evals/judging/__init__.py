"""What a model that judges is asked, and what its reply says."""

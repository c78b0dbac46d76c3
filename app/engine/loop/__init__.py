"""One step after the other: a model is asked, its calls are made, their results go back."""

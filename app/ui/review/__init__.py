"""The page of Quick review: one answer at a time, rated by keyboard; and how far judges agree with these ratings."""

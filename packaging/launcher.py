"""What the executable starts with."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()  # first: a helper process of Python's own must never get past it
    from app.__main__ import main

    sys.exit(main())

"""`make bench`: how fast it is, each figure beside its bar.

Names of modules here, or the word they begin with, pick some of them.
"""

import sys
from pathlib import Path

from tests.figures import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent, sys.argv[1:]))

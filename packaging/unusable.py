"""Says which modules of a package cannot be imported as it is installed: `python unusable.py litellm.proxy`."""

import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path


def unusable(package: str) -> list[str]:
    root = Path(str(import_module(package).__file__)).parent
    modules = (path.relative_to(root).with_suffix("") for path in sorted(root.rglob("*.py")))
    return [name for module in modules if fails(name := ".".join((package, *module.parts)).removesuffix(".__init__"))]


def fails(name: str) -> bool:
    try:
        import_module(name)
    except Exception:  # noqa: BLE001  whatever keeps it from working here keeps it from working in the executable
        return True
    return False


if __name__ == "__main__":
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        found = unusable(sys.argv[1])
    sys.stdout.write("\n".join(found))
    sys.stdout.flush()
    os._exit(0)  # some of them have started threads that never end

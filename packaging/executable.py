"""What the folder's program and the single file have in common: name, icon, version, signature."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

NAME = "agent-playground"
TITLE = "Agent Playground"
STRIPS = sys.platform == "linux" and shutil.which("strip") is not None
"""Python's own library is a third of the size then."""
_HERE = Path(__file__).parent
_ICONS = {"win32": "app.ico", "darwin": "app.icns"}


def looks(version: str) -> dict[str, object]:
    """Arguments of PyInstaller's `EXE`."""
    identity = os.environ.get("CODESIGN_IDENTITY")  # macOS; Windows files are signed after the build
    return {
        "name": NAME,
        "upx": False,  # what is packed so is taken for a virus, and starts later
        "strip": STRIPS,
        "console": sys.platform == "linux",  # elsewhere a window of its own would open; what it would say is in the log
        "icon": icon(),
        "version": _windows_version(version) if sys.platform == "win32" else None,
        "codesign_identity": identity,
        "entitlements_file": str(_HERE / "entitlements.plist") if identity else None,
    }


def icon() -> str | None:
    name = _ICONS.get(sys.platform)
    return str(_HERE / "icons" / name) if name else None


def _windows_version(version: str) -> str:
    """The path of a file that says the version, as Windows shows it in a file's properties."""
    numbers = ", ".join([*version.split(".")[:3], "0"])
    text = f"""VSVersionInfo(
  ffi=FixedFileInfo(filevers=({numbers}), prodvers=({numbers})),
  kids=[
    StringFileInfo([StringTable("040904B0", [
      StringStruct("FileDescription", "{TITLE}"),
      StringStruct("FileVersion", "{version}"),
      StringStruct("ProductName", "{TITLE}"),
      StringStruct("ProductVersion", "{version}"),
      StringStruct("OriginalFilename", "{NAME}.exe"),
    ])]),
    VarFileInfo([VarStruct("Translation", [1033, 1200])]),
  ],
)
"""
    path = Path(tempfile.mkdtemp()) / "version.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)

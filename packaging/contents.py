"""What goes into the executable beside what the code imports by name, and what is left out of it and why."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

LEFT_OUT_MODULES = {
    "tkinter": "a toolkit for windows; our pages are in a browser",
    "matplotlib": "NiceGUI draws with it where it is there; no page of ours does",
    "pandas": "NiceGUI and LiteLLM know it; nothing of ours does",
    "polars": "as pandas",
    "numpy": "as pandas",
    "scipy": "as pandas",
    "IPython": "an interactive shell that libraries look for",
    "PIL._avif": "eight megabytes for pictures that are refused",
    "PIL.AvifImagePlugin": "as PIL._avif",
    "PIL._imagingft": "letters in pictures, which nothing here draws",
    "PIL.ImageFont": "as PIL._imagingft",
    "PIL._imagingtk": "as tkinter",
    "PIL.ImageTk": "as tkinter",
    "PIL.ImageQt": "as tkinter",
    "PIL._imagingcms": "colours of printers",
    "PIL.ImageCms": "as PIL._imagingcms",
    "PIL.ImageGrab": "pictures of the screen",
    "PIL.ImageShow": "another program that shows pictures",
    "plotly": "charts that no page of ours shows",
    "webview": "a window of its own, which the app does not open",
    "selenium": "NiceGUI's tests",
    "nicegui.testing": "NiceGUI's tests",
    "pytest": "tests",
    "setuptools": "building packages",
    "pip": "installing packages",
    "uvloop": "another event loop: the app uses Python's own, the same on every system",
    "huggingface_hub": "downloads of models, which LiteLLM offers and the app never asks for",
    "hf_xet": "as huggingface_hub",
    "tokenizers": "counting by tokenizers that would have to be downloaded; tiktoken's come with the app",
    "docutils": "NiceGUI reads it for a kind of text that no page of ours has",
    "litellm.rust_bridge._native": "a faster copy, of 37 MB, of what LiteLLM does in Python as well",
}
LITELLM_LEFT_OUT = ("litellm.proxy", "litellm.rust_bridge._native")
"""The proxy is a server of its own; the few modules of it that LiteLLM itself imports come along by that."""
PICTURES = ("Image", "ImageOps", "PngImagePlugin", "JpegImagePlugin", "WebPImagePlugin", "GifImagePlugin")
"""Of Pillow: what is imported by its name."""
LEFT_OUT_FILES = {
    "nicegui/elements/plotly/": "charts that no page of ours shows",
    "nicegui/elements/scene/": "three dimensions",
    "nicegui/elements/leaflet/": "maps",
    "nicegui/elements/joystick/": "a joystick",
    "nicegui/elements/anywidget/": "widgets of notebooks",
    "nicegui/elements/xterm/": "a terminal",
    "nicegui/elements/echart/": "charts that no page of ours shows",
    "nicegui/elements/aggrid/": "a grid that no page of ours shows",
    "nicegui/elements/json_editor/": "an editor that no page of ours shows",
    "nicegui/static/quasar.important.css": "the same as quasar.important.prod.css, for debugging",
    "nicegui/static/quasar.unimportant.css": "the same as quasar.unimportant.prod.css, for debugging",
    "nicegui/static/sass": "a compiler of styles",
    "nicegui/static/unocss": "a compiler of styles",
    "nicegui/static/quasar.umd.js": "the same as quasar.umd.prod.js, for debugging",
    "nicegui/static/vue.esm-browser.js": "the same as vue.esm-browser.prod.js, for debugging",
    "botocore/data/": "descriptions of 400 services of Amazon, of which signing a request needs none",
    "boto3/data/": "another way to speak to services of Amazon than the one that signs requests",
    "boto3/examples/": "as boto3/data/",
    "litellm/proxy/": "pages and settings of LiteLLM's own server",
    "pillow.libs/libavif": "as PIL._avif",
    "pillow.libs/libfreetype": "as PIL._imagingft",
    "pillow.libs/libharfbuzz": "as PIL._imagingft",
}
KEPT_FILES = (
    "botocore/data/endpoints.json",
    "botocore/data/partitions.json",
    "botocore/data/sdk-default-configuration.json",
    "botocore/data/_retry.json",
    "botocore/data/bedrock-runtime/",
)
"""What a session of Amazon reads before it signs anything, and the shape of what Bedrock streams."""
LEFT_OUT_PARTS = {
    "antigravity": "a joke that opens a browser",
    "this": "a poem",
    "idlelib": "an editor",
    "lib2to3": "rewriting Python 2",
    "test": "Python's own tests",
    "turtle": "needs tkinter",
    "turtledemo": "needs tkinter",
    "tkinter": "see above",
    "ensurepip": "installing packages: a file of its owner's that needs some names an interpreter of its own",
    "venv": "as ensurepip",
    "distutils": "building packages; Python 3.12 has none any more",
}
"""Of the standard library."""
NOT_OF_PACKAGES = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "top_level.txt", "direct_url.json")
"""Of what is known about each package, what only installers read; the licences stay."""
TOOLS_OF_THE_BUILD = {"pip", "setuptools", "pyinstaller", "pyinstaller-hooks-contrib", "altgraph", "macholib", "pefile"}
WORKER_SOURCE = ("app/__init__.py", "app/paths.py", "app/domain/**/*.py", "app/tools/**/*.py")
"""What an interpreter that a tool file's owner has chosen runs: it cannot read the executable's own modules."""


def hidden_modules() -> list[str]:
    """What is imported by a name that is put together at run time, or by a tool file."""
    return [
        *collect_submodules("app"),
        *collect_submodules("charset_normalizer"),
        *collect_submodules("pydantic_monty"),
        *collect_submodules("keyring.backends", on_error="ignore"),
        *collect_submodules("litellm", filter=lambda name: not name.startswith(LITELLM_LEFT_OUT), on_error="ignore"),
        *standard_library(),
        "tiktoken_ext.openai_public",
        *(f"PIL.{name}" for name in PICTURES),
    ]


def left_out_modules() -> list[str]:
    """Those of the list, and what of LiteLLM's server cannot be imported without libraries that are not installed."""
    asked = [sys.executable, str(Path(__file__).with_name("unusable.py")), "litellm.proxy"]
    return [*LEFT_OUT_MODULES, *subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.split()]  # noqa: S603


def standard_library() -> list[str]:
    """All of it: a tool file may import any part."""
    names = [
        name for name in sorted(sys.stdlib_module_names) if not name.startswith("_") and name not in LEFT_OUT_PARTS
    ]
    parts = (collect_submodules(name, filter=lambda part: ".test" not in part, on_error="ignore") for name in names)
    return [*names, *(part for found in parts for part in found)]


def data_files(root: Path) -> list[tuple[str, str]]:
    """Pairs of a file and the folder it goes into."""
    ours = [*root.glob("app/ui/**/*.css"), *root.glob("app/ui/**/*.js")]
    ours += [path for pattern in WORKER_SOURCE for path in root.glob(pattern)]
    return [
        (str(root / "assets"), "assets"),
        *((str(path), str(path.parent.relative_to(root))) for path in sorted(ours)),
        *collect_data_files("latex2mathml"),
        *collect_data_files("litellm", includes=["*.json", "**/*.json", "litellm_core_utils/tokenizers/*"]),
        *(entry for name in installed() for entry in copy_metadata(name)),
    ]


def installed() -> list[str]:
    """All distributions that are built in: Settings lists their licences, and some look for their own versions."""
    return sorted({found.name for found in distributions() if found.name.lower() not in TOOLS_OF_THE_BUILD})


def programs() -> list[tuple[str, str]]:
    """The sandbox for Python, a program of its own."""
    found = shutil.which("monty", path=str(Path(sys.executable).parent))
    if found is None:
        raise SystemExit("The sandbox's program `monty` is not installed beside Python: run `make bundle`.")
    return [(found, ".")]


def is_kept(name: str) -> bool:
    """Whether the file under that name in the bundle goes into it."""
    name = name.replace(os.sep, "/")
    if name.startswith(KEPT_FILES):
        return True
    if ".dist-info/" in name and (name.endswith(NOT_OF_PACKAGES) or "/sboms/" in name):
        return False
    return not name.endswith(".map") and not name.startswith(tuple(LEFT_OUT_FILES)) and "rust_bridge" not in name

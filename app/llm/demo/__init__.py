"""The built-in demo model: deterministic scripts that call the real tools, without a key and without a network."""

from app.llm.demo.model import DemoModel

__all__ = ["DemoModel"]

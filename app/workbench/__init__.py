"""The composition root: builds every part once, over one data folder."""

from app.workbench.workbench import Workbench

__all__ = ["Workbench"]

"""Tests that need an extra are collected only when their marker is asked for: then a missing package fails them."""

from pathlib import Path

import pytest

NEED_EXTRAS = {"test_aec.py", "test_sb3.py"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = "extras" in config.option.markexpr.replace("not extras", "")
    return True if collection_path.name in NEED_EXTRAS and not asked else None

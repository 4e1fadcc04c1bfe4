"""What is written of where an import came from."""

from __future__ import annotations

import pytest

from app.services.competitions.import_kaggle import _asked


@pytest.mark.parametrize(("proxy", "asked"), [
    ("", "https://api.kaggle.com"),
    ("http://127.0.0.1:7777", "http://127.0.0.1:7777"),
    ("http://me:secret@proxy.example:3128", "http://proxy.example:3128"),
    ("me:p@ss@proxy.example", "proxy.example"),
])  # fmt: skip
def test_the_password_of_a_proxy_is_not_kept(proxy: str, asked: str) -> None:
    assert _asked(proxy) == asked

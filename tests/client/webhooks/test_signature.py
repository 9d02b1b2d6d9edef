"""Signatures of webhooks."""

import base64
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prose import ROOT

from svddtune.client import InvalidInput
from svddtune.client.webhooks.signature import is_signed, read_secrets, signed_headers

SECRET = bytes(range(32))
NOW_S = 1_700_000_000.0


def test_signature_of_known_values_is_that_of_openssl() -> None:
    # printf 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -mac HMAC
    #     -macopt hexkey:000102...1f -binary | base64
    headers = signed_headers([SECRET], "msg_1", b'{"a":1}', NOW_S)
    assert headers == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,AMaOha7DUT/0J0JMycRuYOBSvbx3WtwLd2khXXbaVj4=",
    }


@given(st.binary(max_size=200), st.integers(0, 199))
def test_body_is_accepted_as_it_was_sent_and_with_no_byte_changed(body: bytes, at: int) -> None:
    headers = signed_headers([SECRET], "msg_1", body, NOW_S)
    assert is_signed([SECRET], headers, body, NOW_S)
    changed = body[:at] + b"!" + body[at:]
    assert not is_signed([SECRET], headers, changed, NOW_S)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
@pytest.mark.parametrize("value", ["", "1", "²", "v1,", "9" * 5000, "\x00"])
def test_header_with_another_value_is_refused(name: str, value: str) -> None:
    headers = signed_headers([SECRET], "msg_1", b"{}", NOW_S) | {name: value}
    assert not is_signed([SECRET], headers, b"{}", NOW_S)


def test_old_signature_and_that_of_another_key_are_refused() -> None:
    headers = signed_headers([SECRET], "msg_1", b"{}", NOW_S)
    assert is_signed([SECRET], headers, b"{}", NOW_S + 300)
    assert not is_signed([SECRET], headers, b"{}", NOW_S + 301)
    assert not is_signed([SECRET], headers, b"{}", NOW_S - 301)
    assert not is_signed([b"x" * 32], headers, b"{}", NOW_S)


def test_each_of_two_keys_gets_a_signature(tmp_path: Path) -> None:
    old, new = b"o" * 24, b"n" * 24
    file = tmp_path / "keys"
    lines = [f"whsec_{base64.b64encode(old).decode()}", base64.b64encode(new).decode()]
    file.write_text("\n".join(lines) + "\n")
    headers = signed_headers(read_secrets(file), "msg_1", b"{}", NOW_S)
    assert is_signed([old], headers, b"{}", NOW_S)
    assert is_signed([new], headers, b"{}", NOW_S)


@pytest.mark.parametrize(
    "text", ["", "\n", "whsec_short", "whsec_" + "A" * 20, "no base64!" * 4, "whsec_" + "é" * 40]
)
def test_file_without_a_valid_key_is_refused_without_naming_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_secrets(file)
    assert caught.value.reason == "SECRET_INVALID"
    assert not text.strip() or text.strip() not in caught.value.message


def test_snippet_of_the_page_verifies_what_is_sent() -> None:
    page = (ROOT / "docs" / "webhooks.md").read_text()
    snippet = re.search(r"```python\n(import base64.*?)```", page, re.DOTALL)
    assert snippet
    scope: dict[str, Any] = {}
    exec(snippet[1], scope)
    headers = signed_headers([b"x" * 32, SECRET], "msg_1", b"{}", time.time())
    secret = f"whsec_{base64.b64encode(SECRET).decode()}"
    assert scope["is_genuine"](secret, headers, b"{}")
    assert not scope["is_genuine"](secret, headers, b"{ }")

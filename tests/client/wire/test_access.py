"""What a client is given to connect with: files of certificates, tokens and their sources."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from svddtune.client import InvalidInput, TuningClient, Unavailable
from svddtune.client.wire.bearer import token_source


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of ann and bob, and their keys."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca")
    for name in ("ann", "bob"):
        leaf = authority.issue_cert(common_name=name)
        leaf.cert_chain_pems[0].write_to_path(folder / f"{name}.cert")
        leaf.private_key_pem.write_to_path(folder / f"{name}.key")
        key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
        locked = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
        (folder / f"{name}.locked").write_bytes(locked)
    (folder / "text").write_text("none")
    return folder


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOKEN", "TOKEN_FILE", "CLIENT_CERT", "CLIENT_KEY"):
        monkeypatch.delenv(f"SVDDTUNE_{name}", raising=False)


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1:50051",
        "tune.example.org:50051",
        "[2001:db8::1]:50051",
        "dns:///tune.example.org:50051",
        "ipv4:127.0.0.1:50051,10.0.0.1:50051",
        "localhost.example.org:50051",
    ],
)
def test_token_is_not_sent_beyond_this_machine_in_the_clear(address: str, folder: Path) -> None:
    with pytest.raises(InvalidInput, match="--tls-ca FILE") as refused:
        TuningClient(address, token="abc")
    assert refused.value.reason == "TOKEN_NOT_ENCRYPTED"
    assert "abc" not in str(refused.value)
    TuningClient(address, token="abc", tls_ca=folder / "ca").close()
    TuningClient(address).close()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:50051",
        "127.8.8.8:50051",
        "localhost:50051",
        "[::1]:50051",
        "dns:///localhost:50051",
        "ipv4:127.0.0.1:50051",
        "unix:/run/svddtune.sock",
    ],
)
def test_token_is_sent_on_this_machine_without_encryption(address: str) -> None:
    TuningClient(address, token="abc").close()


@pytest.mark.parametrize(
    ("cert", "key", "said"),
    [
        ("ann.cert", "bob.key", "does not belong to the certificate in"),
        ("ann.key", "ann.cert", "are no client certificate and its key"),
        ("text", "ann.key", "are no client certificate and its key"),
        ("ann.cert", "ann.locked", "the key without a password"),
        ("ann.cert", "absent", "absent cannot be read: No such file"),
        ("absent", "ann.key", "absent cannot be read: No such file"),
        ("ann.cert", None, "needs both"),
        (None, "ann.key", "needs both"),
    ],
)
def test_pair_of_files_that_does_not_serve_is_refused(
    folder: Path, cert: str | None, key: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [folder / one if one else None for one in (cert, key)]
    with pytest.raises(InvalidInput, match=said) as refused:
        TuningClient(client_cert=files[0], client_key=files[1])
    assert refused.value.reason == "INVALID_CERTIFICATE"
    for name, file in zip(("CERT", "KEY"), files, strict=True):
        monkeypatch.setenv(f"SVDDTUNE_CLIENT_{name}", str(file or ""))
    with pytest.raises(InvalidInput, match=said):
        TuningClient()
    TuningClient(client_cert="", client_key="").close()


@pytest.mark.parametrize("name", ["text", "ann.key", "absent"])
def test_file_without_certificates_to_trust_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=name) as refused:
        TuningClient(tls_ca=folder / name)
    assert refused.value.reason == "INVALID_CERTIFICATE"


def test_token_file_is_read_again_and_may_be_away_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    monkeypatch.setenv("SVDDTUNE_TOKEN_FILE", str(file))
    with pytest.raises(InvalidInput, match="cannot be read") as refused:
        TuningClient()
    assert refused.value.reason == "INVALID_TOKEN"
    file.write_text("first\n")
    source = token_source(None)
    assert source is not None
    assert source() == "first"
    file.write_text("second\n")
    assert source() == "second"
    file.unlink()
    assert source() == "second"


def test_function_is_asked_for_each_call_and_its_failure_is_one_of_the_call() -> None:
    tokens: Iterator[str] = iter(["first", "second", "not one"])
    source = token_source(lambda: next(tokens))
    assert source is not None
    assert [source(), source()] == ["first", "second"]
    with pytest.raises(InvalidInput) as refused:
        source()
    assert refused.value.reason == "INVALID_TOKEN"
    with pytest.raises(Unavailable, match="The function that returns the token failed") as failed:
        source()
    assert failed.value.reason == "TOKEN_UNAVAILABLE"

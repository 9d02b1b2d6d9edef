"""Starting the process prints a ready line, or one clear line about what is wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2
from tests.e2e.processes import Process, service

from svddtune.process.settings import SettingsError, read_settings
from svddtune.service.settings import Settings
from svddtune.state.connect import connect


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SVDDTUNE_"):
            monkeypatch.delenv(name)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "svddtune.service", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_settings_have_defaults() -> None:
    settings = read_settings(Settings, [], program="service")
    assert settings.listen == "127.0.0.1:50051"
    assert settings.redis == "redis://127.0.0.1:6379/0"
    assert (settings.max_rows, settings.max_features, settings.max_bytes) == (
        2_000_000,
        10_000,
        2 << 30,
    )
    assert settings.reflection


def test_command_line_comes_before_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVDDTUNE_PARTITIONS", "3")
    monkeypatch.setenv("SVDDTUNE_LISTEN", "127.0.0.1:1")
    settings = read_settings(
        Settings, ["--listen", "unix:/run/svddtune.sock", "--no-reflection"], program="service"
    )
    assert settings.partitions == 3
    assert settings.listen == "unix:/run/svddtune.sock"
    assert not settings.reflection


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--partitions", "0"], ["--partitions", "'0'"]),
        (["--partitions", "many"], ["--partitions", "'many'"]),
        (["--listen", "here"], ["--listen", "'here'", "HOST:PORT"]),
        (["--listen", "127.0.0.1:70000"], ["--listen", "70000"]),
        (["--redis", "http://x"], ["--redis", "redis://"]),
        (["--log-format", "xml"], ["--log-format", "'xml'"]),
        (["--tls-cert", "missing.pem"], ["--tls-cert", "--tls-key"]),
        (["--tls-cert", "missing.pem", "--tls-key", "missing.pem"], ["missing.pem"]),
        (["--tokens", "missing.json"], ["missing.json"]),
        (["--tls-client-ca", "ca.pem"], ["--tls-client-ca", "--tls-cert"]),
        (["--jwt-issuer", "https://x"], ["--jwt-issuer", "--jwt-audience", "--jwt-jwks"]),
        (["--jwt-jwks", "http://example.org/keys"], ["--jwt-jwks", "https://"]),
        (["--jwt-jwks", "https://ann:secret@example.org/keys"], ["--jwt-jwks", "no password"]),
        (["--listen", "0.0.0.0:50051"], ["0.0.0.0:50051", "loopback", "insecure"]),
        (["--listen", "[::]:50051"], ["loopback"]),
        (["--otlp-endpoint", "127.0.0.1:4318"], ["--otlp-endpoint", "4318", "http://"]),
        (["--listen", "example.org:50051"], ["loopback"]),
    ],
)
def test_wrong_setting_is_named_in_one_line(arguments: list[str], words: list[str]) -> None:
    with pytest.raises(SettingsError) as refusal:
        read_settings(Settings, arguments, program="service")
    text = str(refusal.value)
    assert "\n" not in text
    assert all(word in text for word in words)


def test_wrong_environment_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVDDTUNE_MAX_ROWS", "-1")
    with pytest.raises(SettingsError, match="SVDDTUNE_MAX_ROWS is '-1'"):
        read_settings(Settings, [], program="service")


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:1", "[::1]:1", "unix:/tmp/x"])
def test_loopback_needs_no_certificate(listen: str) -> None:
    assert not Settings(listen=listen).exposed  # type: ignore[call-arg]


def test_metrics_beyond_loopback_need_their_setting_alone() -> None:
    assert Settings(metrics_listen="0.0.0.0:1").exposed == []  # type: ignore[call-arg]


def test_address_beyond_loopback_needs_both_tls_and_an_identity_provider(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    tls = {"tls_cert": file, "tls_key": file}
    provider = {"tokens": file}
    for given, lacking in ((tls, "no identity provider"), (provider, "no encryption")):
        with pytest.raises(ValueError, match=f"not a loopback address, and there is {lacking}"):
            Settings(listen="0.0.0.0:1", **given)  # type: ignore[arg-type]
    assert Settings(listen="0.0.0.0:1", **tls, **provider).exposed == []  # type: ignore[arg-type]


def test_wrong_setting_stops_the_start_with_exit_code_2() -> None:
    done = run("--listen", "0.0.0.0:0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("url", ["redis://localhost:here", "redis://x?socket_timeout=soon"])
def test_wrong_redis_url_stops_the_start_with_exit_code_2(url: str) -> None:
    done = run("--redis", url)
    assert done.returncode == 2
    assert done.stderr.startswith(f"--redis is {url!r}: ")
    assert len(done.stderr.splitlines()) == 1


def test_unreachable_redis_stops_the_start() -> None:
    done = run("--redis", "unix:///nowhere/redis.sock", "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert done.stderr.startswith("STORE_UNAVAILABLE: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.integration
def test_redis_with_an_eviction_policy_is_refused(redis_url: str) -> None:
    with connect(redis_url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            done = run("--redis", redis_url, "--listen", "127.0.0.1:0")
        finally:
            client.config_set("maxmemory-policy", "noeviction")
    assert done.returncode == 1
    assert done.stderr.startswith("REDIS_UNSAFE: maxmemory-policy is allkeys-lru")


@pytest.mark.integration
def test_port_in_use_stops_the_start(redis_url: str, service_process: Process) -> None:
    done = run("--redis", redis_url, "--listen", service_process.ready["address"])
    assert done.returncode == 1
    assert "ADDRESS_UNUSABLE" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.integration
def test_insecure_start_is_logged_as_a_warning(redis_url: str) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "svddtune.service"),
            *("--redis", redis_url, "--listen", "0.0.0.0:0", "--insecure"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "INSECURE" in log


@pytest.mark.integration
def test_service_listens_on_a_unix_socket(redis_url: str, tmp_path: Path) -> None:
    with service(redis_url, listen=f"unix:{tmp_path}/s") as process:
        assert process.ready["address"] == f"unix:{tmp_path}/s"
        assert process.ready["server"].split()[0] in ("redis", "valkey")
        with grpc.insecure_channel(process.ready["address"]) as channel:
            grpc.channel_ready_future(channel).result(timeout=10)


@pytest.mark.integration
@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_services_and_no_jobs_are_found_by_reflection(
    redis_url: str, service_process: Process, version: str
) -> None:
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_by_filename="svddtune/v1/tuning.proto"),
        reflection_pb2.ServerReflectionRequest(file_by_filename="svddtune/jobs/v1/jobs.proto"),
    ]
    with grpc.insecure_channel(service_process.ready["address"]) as channel:
        reflect = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        listed, public, internal = reflect(iter(asked), timeout=10)
    names = {one.name for one in listed.list_services_response.service}
    assert {
        "svddtune.v1.TuningService",
        "grpc.health.v1.Health",
        f"grpc.reflection.{version}.ServerReflection",
    } <= names
    assert public.file_descriptor_response.file_descriptor_proto
    assert internal.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]


def test_setting_that_is_no_text_is_refused_in_one_line() -> None:
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_settings(Settings, ["--listen", "\udc85:1"], program="service")

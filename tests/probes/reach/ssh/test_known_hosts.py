"""The index over known_hosts, without any network."""

import base64
import hmac
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchconsole.probes.reach.ssh import known_hosts
from benchconsole.probes.reach.ssh.known_hosts import KnownHosts
from tests.probes.reach.ssh.conftest import Keys


def _key(path: Path) -> str:
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


def _read(tmp_path: Path, *lines: str) -> KnownHosts:
    path = tmp_path / "known_hosts"
    path.write_text("\n".join(lines) + "\n")
    return KnownHosts.read([str(path)])


def _hash_name(name: str) -> str:
    salt = name.encode().ljust(20)
    parts = (base64.b64encode(each).decode() for each in (salt, hmac.digest(salt, name.encode(), "sha1")))
    return "|1|" + "|".join(parts)


@pytest.mark.parametrize(
    ("names", "host", "port", "found"),
    [
        ("n1", "n1", 22, True),
        ("n1", "N1", 22, True),
        ("N1,10.0.0.1", "n1", 22, True),
        ("n1,10.0.0.1", "10.0.0.1", 22, True),
        ("n1", "n2", 22, False),
        ("[n1]:2222", "n1", 2222, True),
        ("[n1]:2222", "n1", 22, False),
        ("n1", "n1", 2222, True),
        ("n*", "n17", 22, True),
        ("n?", "n17", 22, False),
        ("n*,!n17", "n17", 22, False),
        ("n*,!n17", "n18", 22, True),
        ("[n*]:2222", "n1", 2222, True),
        ("# n1", "n1", 22, False),
    ],
)
def test_names(tmp_path: Path, keys: Keys, names: str, host: str, port: int, found: bool) -> None:
    assert bool(_read(tmp_path, f"{names} {_key(keys.host)} comment").lookup(host, port).keys) is found


def test_a_name_may_have_many_keys_and_the_files_are_one(tmp_path: Path, keys: Keys) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text(f"n1 {_key(keys.host)}\n")
    second.write_text(f"n1 {_key(keys.rsa_host)}\n@cert-authority n* {_key(keys.authority)}\n")
    trusted = KnownHosts.read([str(first), str(tmp_path / "missing"), str(second)]).lookup("n1", 22)
    assert (len(trusted.keys), len(trusted.authorities)) == (2, 1)
    assert trusted.places == (f"{first}:1", f"{second}:1")


def test_a_revocation_of_the_host_counts_on_every_port(tmp_path: Path, keys: Keys) -> None:
    known = _read(tmp_path, f"[n1]:2222 {_key(keys.host)}", f"@revoked n1 {_key(keys.host)}")
    assert known.lookup("n1", 2222).revoked


@pytest.mark.parametrize(
    "line", ["@revoked *\t{key}", "@revoked\tn1 {key}", "@revoked n1\t {key}", " \t@revoked n1 {key}"]
)
def test_tabs_part_the_fields_of_a_revocation(tmp_path: Path, keys: Keys, line: str) -> None:
    known = _read(tmp_path, f"n1 {_key(keys.host)}", line.format(key=_key(keys.host)))
    assert known.lookup("n1", 22).revoked


def test_tabs_part_the_fields_of_a_key(tmp_path: Path, keys: Keys) -> None:
    assert _read(tmp_path, "n1\t" + _key(keys.host).replace(" ", "\t")).lookup("n1", 22).keys


@pytest.mark.parametrize("end", ["\v", "\f", "\r", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_the_end_of_a_line_ends_a_comment(tmp_path: Path, keys: Keys, end: str) -> None:
    assert not _read(tmp_path, f"# a comment{end}n1 {_key(keys.host)}").lookup("n1", 22).keys


@pytest.mark.parametrize("end", ["\v", "\f", "\r", "\x85", "\u2028"])
def test_adding_a_key_keeps_comments_as_they_are(tmp_path: Path, keys: Keys, end: str) -> None:
    path = tmp_path / "known_hosts"
    comment = f"# a comment{end}n1 {_key(keys.host)}\n"
    path.write_bytes(comment.encode())
    kind, key = _key(keys.rsa_host).split()
    assert known_hosts.add_keys(path, [known_hosts.OfferedKey("n2", kind, key, "")]) == 1
    assert path.read_bytes() == comment.encode() + f"n2 {kind} {key}\n".encode()
    assert not KnownHosts.read([str(path)]).lookup("n1", 22).keys


def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path, keys: Keys) -> None:
    bad = (
        "n1",
        "n1 ssh-ed25519",
        "n1 ssh-ed25519 %%%",
        "|1|x",
        "|1|!|! ssh-ed25519 AAAA",
        "@odd n1 ssh-rsa AAAA",
        "\x00",
    )
    assert len(_read(tmp_path, *bad, f"n1 {_key(keys.host)}").lookup("n1", 22).keys) == 1


def test_a_hashed_line_is_tried_until_its_name_is_known(
    tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain names are found without a trial, and a hashed name that was found is plain from then on."""
    tried: list[bytes] = []

    def digest(key: bytes, message: bytes, name: str) -> bytes:
        tried.append(message)
        return hmac.digest(key, message, name)

    hashed = [_hash_name(f"h{number}") for number in range(3)]
    names = [*(f"n{number}" for number in range(50)), *hashed]
    known = _read(tmp_path, *(f"{name} {_key(keys.host)}" for name in names))
    monkeypatch.setattr(known_hosts, "hmac", SimpleNamespace(digest=digest))
    assert known.lookup("h1", 22).keys
    assert tried == [b"h1"] * 3
    tried.clear()
    assert known.lookup("h1", 22).keys
    assert known.lookup("n7", 22).keys
    assert tried == [b"h1"] * 2 + [b"n7"] * 2

"""Who can write the files of an ssh configuration, who can read its keys, and which host keys it revokes."""

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.ssh.config_files import find_reader, find_stranger, find_writer, read_revoked
from benchconsole.probes.reach.ssh.ssh_config import ConfigError, Destination, SshConfig, load_named_key
from benchconsole.topology.model.access import Access
from tests.probes.reach.ssh.conftest import Keys


def public(path: Path) -> str:
    return path.with_suffix(".pub").read_text().strip()


def resolve(config: Path, known: str = "none") -> object:
    place = Access(config=str(config), known_hosts=str(config.parent / known))
    return SshConfig(place, login=20, keepalive=4).resolve(Destination("n1", None, None)).trusted


@pytest.mark.fault("I05")
@pytest.mark.parametrize(
    ("mode", "said"), [(0o600, ""), (0o644, ""), (0o664, "mode 0664"), (0o646, "mode 0646"), (0o666, "mode 0666")]
)
def test_a_file_that_others_can_write_is_told(tmp_path: Path, mode: int, said: str) -> None:
    file = tmp_path / "config"
    file.write_text("Host *\n")
    file.chmod(mode)
    found = find_writer(file)
    assert (said in found) if said else found == ""


@pytest.mark.fault("I05")
@pytest.mark.parametrize(("mode", "is_told"), [(0o700, False), (0o775, False), (0o777, True), (0o1777, False)])
def test_a_directory_in_which_everybody_may_replace_it_is_told(tmp_path: Path, mode: int, is_told: bool) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    file = folder / "config"
    file.write_text("Host *\n")
    folder.chmod(mode)
    assert ("everybody may replace it" in find_writer(file)) is is_told


@pytest.mark.fault("I05")
@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("Host *\n")
    os.chown(file, 12345, -1)
    assert find_writer(file).startswith("belongs to user 12345")


def _give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``path`` be another user's; only root gives files away, others take themselves for somebody else."""
    if os.getuid() == 0:
        os.chown(path, 12345, -1, follow_symlinks=False)
    else:
        me = os.getuid()
        monkeypatch.setattr("os.getuid", lambda: me + 1)


@pytest.mark.parametrize(
    ("put", "said"),
    [
        ("nothing", ""),
        ("file", ""),
        ("link", ""),
        ("link to nothing", ""),
        ("open file", "can be written by others (mode 0666)"),
        ("link to open file", "can be written by others (mode 0666)"),
        ("link to file in open folder", "where everybody may replace it"),
        ("file of another", "belongs to user"),
        ("link of another", "is a link of user"),
        ("file of another in a sticky folder", "belongs to user"),
    ],
)
def test_a_file_that_somebody_else_may_have_put_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: str, said: str
) -> None:
    folder, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    path, target = folder / "known_hosts", elsewhere / "target"
    if put.startswith("link"):
        path.symlink_to(target)
    there = target if "link" in put else path
    if "nothing" not in put:
        there.write_text("")
        there.chmod(0o666 if "open file" in put else 0o644)
    if "open folder" in put:
        elsewhere.chmod(0o777)
    if "sticky" in put:
        folder.chmod(0o1777)
    if "another" in put:
        _give_away(path, monkeypatch)
    found = find_stranger(path)
    assert (said in found) if said else found == ""


@pytest.mark.fault("I05")
def test_what_an_open_file_would_run_is_not_run(tmp_path: Path) -> None:
    """The file itself, or one that it includes."""
    ran = tmp_path / "ran"
    more = tmp_path / "more"
    more.write_text(f'Match exec "touch {ran}"\n User other\n')
    config = tmp_path / "config"
    config.write_text(f"Include {more}\n")
    for file in (more, config):
        file.chmod(0o666)
        with pytest.raises(ConfigError, match=f"{file} can be written by others"):
            resolve(config)
        file.chmod(0o600)
    assert not ran.exists()
    resolve(config)
    assert ran.exists(), "the same file of one's own is followed"


@pytest.mark.parametrize(("mode", "is_told"), [(0o600, False), (0o400, False), (0o640, True), (0o644, True)])
def test_a_private_key_that_others_can_read_is_not_used(tmp_path: Path, keys: Keys, mode: int, is_told: bool) -> None:
    key = tmp_path / "key"
    key.write_bytes(keys.user.read_bytes())
    key.chmod(mode)
    assert bool(find_reader(key)) is is_told
    if is_told:
        with pytest.raises(ValueError, match="can be read or written by others"):
            load_named_key(str(key))
        place = Access(config=str(tmp_path / "config"), identity=str(key))
        (tmp_path / "config").write_text("")
        with pytest.raises(ConfigError) as caught:
            SshConfig(place, login=20, keepalive=4).resolve(Destination("n1", None, None))
        assert caught.value.stage is FailedAt.LOGIN
    else:
        assert load_named_key(str(key)).pairs


@pytest.mark.fault("F06", "I01")
def test_keys_that_the_configuration_revokes_are_revoked_for_every_host(tmp_path: Path, keys: Keys) -> None:
    (tmp_path / "revoked").write_text(f"# gone\n{public(keys.host)}\n\n{public(keys.rsa_host)}\n")
    config = tmp_path / "config"
    config.write_text(f"Host other\n  RevokedHostKeys {tmp_path}/revoked\nRevokedHostKeys none\n")
    (tmp_path / "known").write_text(f"n1 {public(keys.host)}\n")
    assert len(read_revoked([str(config)])) == 2
    trusted = resolve(config, "known")
    assert [key.get_fingerprint() for key in trusted.keys] == [trusted.revoked[0].get_fingerprint()]  # type: ignore[attr-defined]


@pytest.mark.fault("F06", "I01")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"SSHKRL\n\x00\x00", "a binary list"),
        (b"no key\n", "revoked:1, which RevokedHostKeys names"),
    ],
)
def test_a_list_of_revoked_keys_that_cannot_be_read_lets_nobody_in(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "revoked").write_bytes(content)
    config = tmp_path / "config"
    config.write_text(f"RevokedHostKeys {tmp_path}/revoked\n")
    with pytest.raises(ConfigError, match=said):
        resolve(config)


@pytest.mark.parametrize(("depth", "is_told"), [(15, False), (16, False), (17, True)])
def test_as_many_includes_as_ssh_follows(tmp_path: Path, depth: int, is_told: bool) -> None:
    files = [tmp_path / f"{number}.conf" for number in range(depth + 1)]
    for file, included in pairwise(files):
        file.write_text(f"Include {included}\n")
    files[-1].write_text("Port 7\n")
    for file in files:
        file.chmod(0o600)
    ssh = subprocess.run(["ssh", "-G", "-F", str(files[0]), "n1"], capture_output=True, check=False)
    assert (ssh.returncode != 0) is is_told, "OpenSSH itself"
    resolver = SshConfig(Access(config=str(files[0])), login=1, keepalive=1)
    if is_told:
        with pytest.raises(ConfigError, match="included 17 files deep"):
            resolver.resolve(Destination("n1"))
    else:
        assert resolver.resolve(Destination("n1")).port == 7


def test_a_file_that_includes_itself_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(f"Include {config}\nInclude {config}\n")
    config.chmod(0o600)
    with pytest.raises(ConfigError, match="does a file include itself"):
        SshConfig(Access(config=str(config)), login=1, keepalive=1).resolve(Destination("n1"))

"""Where the database is, and on what kind of file system."""

from pathlib import Path

import pytest

from benchconsole.store.files import filesystem, paths


def test_the_default_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/someone/data")
    assert paths.default_path({}) == Path("/home/someone/data/benchconsole/sessions.db")
    assert paths.default_path({"BENCHCONSOLE_DB": "~/x.db"}) == Path("/home/someone/x.db")


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ("", "/home/someone/data/benchconsole"),
        ("/srv/x.db", "/srv"),
        ("~/x.db", "/home/someone"),
        ("x.db", "/home/someone/data/benchconsole"),
        ("./x.db", "/home/someone/data/benchconsole"),
        ("../runs/x.db", "/home/someone/data/benchconsole"),
    ],
)
def test_trusted_keys_stand_beside_the_database_and_in_no_folder_that_happens_to_be_the_current_one(
    monkeypatch: pytest.MonkeyPatch, named: str, place: str
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/someone/data")
    assert paths.trusted_hosts_path({"BENCHCONSOLE_DB": named}) == Path(place) / "known_hosts"


_MOUNTS = r"""22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:40 / /home rw - nfs4 server:/home rw
24 22 0:41 / /home/a\040b rw - tmpfs tmpfs rw
25 22 0:42 / /over rw - ext4 /dev/sdb1 rw
26 25 0:43 / /over rw - fuse.sshfs far: rw
broken line
"""


@pytest.mark.fault("F31")
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/x", "ext4"),
        ("/home/c", "nfs4"),
        ("/homework", "ext4"),
        ("/home/a b/s.db", "tmpfs"),
        ("/over/s.db", "fuse.sshfs"),
    ],
)
def test_the_kind_of_the_file_system(place: str, kind: str) -> None:
    assert filesystem.kind_of(Path(place), _MOUNTS) == kind
    assert filesystem.kind_of(Path(place), "") == "unknown"

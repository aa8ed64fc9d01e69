"""A login that is not root: sshd treats it differently, and it may not look into others' processes."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probes.model import FailedAt
from probes.remote import Remote, RemoteError
from probes.sweep import leftovers
from tests.probes.ssh.conftest import Bench, eventually, node

USER, UID = "benchuser", 54321
_MOUNT = 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/shadow" /etc/shadow && exec "$@"'


@pytest.fixture
def tables() -> Iterator[Path]:
    """The machine's user tables with one more line each, for a mount namespace of one sshd."""
    directory = Path(tempfile.mkdtemp(prefix="bench-tables-", dir="/tmp"))
    directory.chmod(0o755)
    for name, line in (("passwd", f"{USER}:x:{UID}:{UID}::/:/bin/sh"), ("shadow", f"{USER}:*:19000:0:99999:7:::")):
        (directory / name).write_text(f"{Path('/etc', name).read_text()}{line}\n")
    yield directory
    shutil.rmtree(directory)


async def _remote(bench: Bench, tables: Path) -> Remote:
    authorized = tables / "authorized"
    shutil.copy(bench.keys.user.with_suffix(".pub"), authorized)
    server = bench.sshd(
        f"AuthorizedKeysFile {authorized}",
        within=("unshare", "--mount", "--propagation", "private", "sh", "-c", _MOUNT, str(tables)),
    )
    return await bench.reach(replace(bench.access(server), user=USER)).remote(node(server.address))


def _may_mount() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


@pytest.mark.skipif(  # in CI it runs, and fails where it cannot
    not _may_mount() and not os.environ.get("CI"), reason="NOT TESTED: needs a mount namespace of its own to add a user"
)
@pytest.mark.parametrize("script", ["sleep 300", "trap '' TERM; setsid sleep 301 & sleep 300; sleep 302"])
async def test_an_ordinary_users_commands_end_as_roots_do(bench: Bench, tables: Path, script: str) -> None:
    remote = await _remote(bench, tables)
    assert (await remote.run(["id", "-u"], timeout=10)).text == f"{UID}\n"
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", script], timeout=0.4)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "did not confirm" not in raised.value.failure.detail
    assert bench.marked() == []

    task = asyncio.create_task(remote.run(["sh", "-c", script], timeout=60))
    await eventually(lambda: len(bench.marked()) >= 2)
    assert {entry.session for entry in await leftovers(remote)} == {bench.session}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert bench.marked() == []

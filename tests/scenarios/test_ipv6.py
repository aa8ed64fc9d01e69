"""Nodes with addresses of IPv6 alone: SSH, trust and transfers over a real sshd, in a network of the test's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios.commands import report

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and not os.environ.get("CI"), reason="NOT TESTED: a network namespace needs root (in CI it runs)"
)

FABRIC = """\
schema: 1
fabric: six
nodes: {"n[1-2]": {address: "fd00::[1-2]"}}
switches: {s: {}}
links: [{from: "n[1-2]", to: s, speed: 100 Gb/s}]
ssh: {user: root, port: 2222, identity: user, known_hosts: known, config: none.conf}
criteria: [{metric: ping.loss, at_most: 0 %}]
suites:
  default:
    - {probe: ping, design: neighbours, count: 2}
    - {probe: traceroute, design: neighbours}
    - {probe: iperf3, design: neighbours, seconds: 1}
    - {probe: qperf, design: neighbours, seconds: 1}
"""
SSHD = """\
ListenAddress [fd00::1]:2222
ListenAddress [fd00::2]:2222
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
"""
SCRIPT = """\
set -e
ip link set lo up
for n in 1 2; do ip -6 addr add fd00::$n/128 dev lo nodad; done
/usr/sbin/sshd -D -e -f "$1/sshd" 2>"$1/log" & server=$!
trap 'kill $server' EXIT
# sshd does not say when it listens, but in its log
for try in $(seq 200); do grep -q 'listening on fd00::2' "$1/log" && break; sleep .05; done
"$2" -m benchconsole.console.cli run "$1/six.yaml" --db "$1/s.db"
"""


def test_a_run_over_ipv6(tmp_path: Path) -> None:
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    key = (tmp_path / "host.pub").read_text()
    (tmp_path / "known").write_text("".join(f"[fd00::{number}]:2222 {key}" for number in (1, 2)))
    (tmp_path / "none.conf").touch(mode=0o600)
    keys = f"HostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/user.pub\nSetEnv HOME={tmp_path}\n"
    (tmp_path / "sshd").write_text(SSHD + keys)
    (tmp_path / "six.yaml").write_text(FABRIC)
    command = ["unshare", "--net", "sh", "-c", SCRIPT, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (tmp_path / "s.db").exists(), done.stdout + done.stderr
    found = report(tmp_path / "s.db")
    coverage = found["coverage"]
    assert coverage["tested"] == coverage["planned"] == 8, done.stdout + done.stderr

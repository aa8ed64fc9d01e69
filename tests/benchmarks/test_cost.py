"""The table of costs is measured beside all of its peers, or not at all."""

import shutil
import sys

import pytest

from benchmarks import cost, reach_rivals


@pytest.fixture(autouse=True)
def _build_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach_rivals, "build_go", lambda name: name)


def test_nothing_is_measured_where_a_peer_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cost", "--only", "startup,reach"])
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "pdsh" else name)
    monkeypatch.setattr(cost, "run", lambda *_: pytest.fail("something was measured"))
    with pytest.raises(SystemExit) as ended:
        cost.main()
    assert ended.value.code == 2
    assert "found no pdsh; expected every peer of the table" in capsys.readouterr().err


@pytest.mark.parametrize("is_asked", [False, True])
def test_the_peers_are_brought_where_that_is_asked(monkeypatch: pytest.MonkeyPatch, is_asked: bool) -> None:
    brought: list[bool] = []
    measured: list[str] = []
    monkeypatch.setattr(sys, "argv", ["cost", "--only", "reach", *(["--install"] if is_asked else [])])
    monkeypatch.setattr(cost, "install", lambda: brought.append(True))
    monkeypatch.setattr(shutil, "which", lambda name: name)

    def note(part: cost.Part, _words: str) -> bool:
        measured.append(part.module)
        return True

    monkeypatch.setattr(cost, "run", note)
    assert cost.main() == 0
    assert measured == ["reach", "reach", "reach"]
    assert brought == [True] * is_asked


def test_every_missing_peer_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    missing = reach_rivals.list_missing()
    assert len(missing) == len(set(missing))
    assert {"openssh-client", "pdsh", "clustershell", "golang-go and golang-golang-x-crypto-dev"} < set(missing)

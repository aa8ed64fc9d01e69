"""Reports of large sessions are kept: what is printed again is what was printed, and never of another state."""

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.session import installed_program, kept_report
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_judgement import NewJudgement
from benchconsole.console.text.cells import to_ascii
from benchconsole.store.errors import LockedError, ReadOnlyError
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.scenarios.test_judging_trials import TRIAD, WEAK, Site, stream
from tests.scenarios.test_session_verdicts import PAIRS, RUN_FABRIC, Reach, play_nodes


def count_kept(site: Site) -> int:
    with closing(plain_sqlite.connect(site.folder / "s.db")) as connection:
        (found,) = connection.execute("SELECT count(*) FROM kept_report").fetchone()
        return int(found)


def call(site: Site, *arguments: str) -> str:
    """Everything that is printed, byte for byte."""
    done = CliRunner().invoke(benchconsole, [*arguments, "--db", str(site.folder / "s.db")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A session of one node below its threshold, of which every report is large enough to be kept."""
    monkeypatch.setattr(kept_report, "LARGE", 1)
    made = Site(tmp_path, [TRIAD])
    assert made.ingest("stream", stream(50.0), "--node", "n1")[0] == 1
    return made


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on no session can be read."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the session was read")

    monkeypatch.setattr(Session, "stored", refuse)


@pytest.mark.parametrize("asked", [["show"], ["report"], ["report", "--format", "html"], ["report", "--format", "md"]])
def test_what_is_asked_again_is_not_made_again(site: Site, asked: list[str], request: pytest.FixtureRequest) -> None:
    made = call(site, *asked)
    request.getfixturevalue("sealed")
    assert call(site, *asked) == made
    assert count_kept(site) == 1


def test_the_text_report_and_the_summary_are_one(site: Site, request: pytest.FixtureRequest) -> None:
    shown = call(site, "show")
    request.getfixturevalue("sealed")
    assert call(site, "report", "--operator", "Ann", "--format", "text") == shown


def test_ascii_is_made_of_what_is_kept(site: Site, request: pytest.FixtureRequest) -> None:
    plain = call(site, "show", "--ascii")
    shown = call(site, "show")
    assert (plain, plain.isascii(), shown.isascii()) == (to_ascii(shown), True, False)
    request.getfixturevalue("sealed")
    assert call(site, "show", "--ascii") == plain


@pytest.mark.parametrize("format_", ["html", "md"])
@pytest.mark.parametrize("operator", ["Ann", "<b>A&B</b>", "see http://x.y | *all*", "\x1b[31mred\u202e", "$0\\1"])
def test_the_page_that_is_kept_names_any_operator(
    format_: str, operator: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["report", "--format", format_, "--operator", operator]
    monkeypatch.setattr(kept_report, "LARGE", 10_000)
    made = call(site, *asked)
    monkeypatch.setattr(kept_report, "LARGE", 1)
    unnamed = call(site, "report", "--format", format_)
    assert count_kept(site) == 1
    assert call(site, *asked) == made != unnamed
    assert call(site, "report", "--format", format_) == unnamed
    assert count_kept(site) == 1


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_formats_that_list_every_value_are_not_kept(site: Site, format_: str) -> None:
    call(site, "report", "--format", format_)
    assert count_kept(site) == 0


def test_a_report_is_never_of_verdicts_that_do_not_count_any_more(site: Site) -> None:
    failing = call(site, "show")
    assert "✗" in failing
    weak = site.write("weak.yaml", [WEAK])
    again = call(site, "judge", "--criteria", str(weak))
    assert "those of the file of the session" in " ".join(again.split())
    assert call(site, "show") == again != failing
    call(site, "judge")
    assert call(site, "show") != again


def test_after_judge_every_report_for_people_is_there(
    site: Site, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    printed = call(site, "judge")
    monkeypatch.setattr(kept_report, "find_program", lambda: "another")
    pages = [call(site, "report", "--format", format_) for format_ in ("html", "md")]
    monkeypatch.undo()
    request.getfixturevalue("sealed")
    monkeypatch.setattr(kept_report, "LARGE", 1)
    assert call(site, "show") == printed
    assert [call(site, "report", "--format", format_) for format_ in ("html", "md")] == pages


def test_after_a_run_every_report_for_people_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    play_nodes(monkeypatch, Reach())
    site = Site(tmp_path, text=f"{RUN_FABRIC}suites:\n  default:\n{PAIRS}")
    monkeypatch.setattr(kept_report, "LARGE", 1)
    assert "the reports are made and kept with the session" in call(site, "run", str(site.topology))
    assert count_kept(site) == len(kept_report.FOR_PEOPLE)
    program = installed_program.find_program
    monkeypatch.setattr(kept_report, "find_program", lambda: "another")
    asked = (["show"], ["report", "--format", "html"], ["report", "--format", "md"])
    pages = [call(site, *each) for each in asked]
    monkeypatch.setattr(kept_report, "find_program", program)
    request.getfixturevalue("sealed")
    assert [call(site, *each) for each in asked] == pages


def test_a_small_run_keeps_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_nodes(monkeypatch, Reach())
    site = Site(tmp_path, text=f"{RUN_FABRIC}suites:\n  default:\n{PAIRS}")
    call(site, "run", str(site.topology))
    assert count_kept(site) == 0


def test_nothing_is_kept_of_a_judgement_that_something_came_between(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = NewJudgement.keep

    async def note_and_keep(new: NewJudgement) -> str | None:
        await new.session.append_note("seen", "a fan was loud", 2e9, claimed=False)
        return await keep(new)

    monkeypatch.setattr(NewJudgement, "keep", note_and_keep)
    call(site, "judge")
    assert count_kept(site) == 0


def test_more_results_are_shown(site: Site) -> None:
    assert "1 of 1 planned test" in " ".join(call(site, "show").split())
    assert site.ingest("stream", stream(100.0), "--node", "n2", "--session", "last")[0]
    assert "2 of 2 planned tests" in " ".join(call(site, "show").split())


def test_another_program_makes_its_own(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    call(site, "show")
    monkeypatch.setattr(kept_report, "find_program", lambda: "another")
    call(site, "show")
    assert count_kept(site) == 2


@pytest.mark.parametrize(("larger", "kept"), [(0, 1), (1, 0)])
def test_only_a_large_session_has_reports_that_are_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch, larger: int, kept: int
) -> None:
    size = 1 + len(site.verdicts())
    monkeypatch.setattr(kept_report, "LARGE", size + larger)
    call(site, "show")
    assert count_kept(site) == kept


def test_a_session_that_never_ended_has_none(site: Site) -> None:
    with closing(plain_sqlite.connect(site.folder / "s.db")) as connection:
        connection.execute("UPDATE driver SET ended = NULL, complete = NULL")
    call(site, "show")
    assert count_kept(site) == 0


def test_a_database_that_takes_nothing_costs_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = call(site, "show")
    call(site, "judge")

    async def refuse(*_: object) -> None:
        raise LockedError("somebody writes", "wait")

    monkeypatch.setattr(Store, "keep_report", refuse)
    monkeypatch.setattr(kept_report, "find_program", lambda: "another")
    assert " ".join(shown.split())[:40] in " ".join(call(site, "show").split())
    assert count_kept(site) == len(kept_report.FOR_PEOPLE)


def test_nothing_is_written_where_nothing_can_be(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Store.open

    def open_to_read(*arguments: object, **named: object) -> Store:
        store: Store = opened(*arguments, **named)  # type: ignore[arg-type]
        store.read_only = ReadOnlyError("it cannot be written", "copy it")
        return store

    monkeypatch.setattr(Store, "open", open_to_read)
    call(site, "show")
    assert count_kept(site) == 0


def test_the_program_is_known_by_its_version_and_its_newest_file() -> None:
    version, newest = installed_program.find_program().split()
    assert version
    assert int(newest) >= Path(kept_report.__file__).stat().st_mtime_ns

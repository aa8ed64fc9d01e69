"""Takes protections out of a copy of the tree, one at a time, and shows that the test of the fault fails without it.

    python -m benchmarks.planted_faults [NUMBER ...]

NUMBER is a row of docs/reference/faults.md, such as F06; without one all are taken. First the tests run on the copy as
it is, and must pass. Exit status 1 when a test passes without its protection, cannot run, or an edit no longer fits.
docs/reference/planted-faults.md keeps the table as it was printed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*_cache", "__pycache__", "*.egg-info", "build", "dist", "pictures")
SECONDS = 300
"""Seconds that the tests of one protection may take."""

HEAD = "| no. | protection | taken out of | test | failed |\n|---|---|---|---|---|"


class EditError(Exception):
    """An edit that does not fit the code any more."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A protection against a fault: ``old`` stands once in ``file``, ``new`` is the code without it."""

    fault: str
    protection: str
    file: str
    old: str
    new: str
    test: str

    def take_out(self, text: str) -> str:
        """``text`` of the file without the protection."""
        found = text.count(self.old)
        if found != 1:
            raise EditError(f"{self.fault}: {self.old!r} stands {found} times in {self.file}, expected once")
        return text.replace(self.old, self.new)

    def format_row(self, failed: str) -> str:
        """The row of the table."""
        return f"| {self.fault} | {self.protection} | `{self.file}` | `{self.test}` | {failed} |"


PLANTED = (
    Planted(
        "F01", "a tag of YAML is a problem", "topology/description/document.py",
        "            self._tagged(event.tag, where)", "            pass",
        "tests/topology/description/test_document.py::test_a_tag_on_a_collection_is_a_problem",
    ),
    Planted(
        "F03", "bytes are refused as the speed of a link", "topology/units.py",
        'if match["symbol"] == "B" or (match["prefix"] or "").endswith("i"):',
        'if (match["prefix"] or "").endswith("i"):',
        "tests/topology/test_units.py::test_link_speed_in_bytes_is_refused_with_the_likely_meaning",
    ),
    Planted(
        "F05", "node sets of mixed padding are refused", "topology/selection.py",
        "    for ranges, widths in _list_mixed(text):", "    for ranges, widths in ():",
        "tests/topology/test_selection.py::test_unlike_paddings_in_one_set_are_refused",
    ),
    Planted(
        "F06", "a revoked key is known as revoked", "probes/reach/ssh/known_hosts.py",
        'revoked=tuple(by_marker["revoked"]),', "revoked=(),",
        "tests/probes/reach/ssh/test_host_keys.py::test_a_revoked_key_is_refused_although_it_is_known",
    ),
    Planted(
        "F07", "a configuration without known hosts is refused", "probes/reach/ssh/ssh_config.py",
        'if not set(users) - {"none", "/dev/null"}:', "if not users:",
        "tests/probes/reach/ssh/test_host_keys.py::test_a_configuration_cannot_turn_verification_off",
    ),
    Planted(
        "F16", "a number of a tool is above 0 and below 1e15", "probes/readers/numbers.py",
        "    if number is None or not 0 < number < most:", "    if number is None:",
        "tests/probes/tools/test_fio.py::test_an_absurd_rate_is_refused",
    ),
    Planted(
        "F18b", "the peer is asked before the client is blamed", "probes/running/pair_blame.py",
        "blamed = await _examine(target.peer, there, seen)", "blamed = None",
        "tests/probes/running/test_pair_blame.py::test_the_runner_books_a_dead_peer_on_the_peer",
    ),
    Planted(
        "F21", "time in which the process was stopped is given back", "probes/plugins/loop_watchdog.py",
        "return seconds + self._sum_gaps(began) - (self.clock() - began)",
        "return seconds - (self.clock() - began)",
        "tests/probes/plugins/test_loop_watchdog.py"
        "::test_time_that_the_process_was_stopped_is_given_back_and_blames_nobody",
    ),
    Planted(
        "F32", "durations are those of the clock that only goes forward", "probes/running/runner.py",
        "        seconds = self._runner.monotonic() - self._began\n",
        "        seconds = self._runner.clock() - self._started\n",
        "tests/probes/test_rounds_under_guard.py::test_durations_are_right_whatever_is_done_to_the_clock",
    ),
    Planted(
        "F33", "a locale without UTF-8 gets ASCII", "console/tui/rows/terminal.py",
        ' not in ("", "0") or not utf8,', ' not in ("", "0"),',
        "tests/console/tui/test_terminals.py::test_the_terminal_is_read_from_its_environment",
    ),
    Planted(
        "F34", "frames that were left out are remembered", "console/tui/textual_patches.py",
        "        self.behind = True  # type: ignore[attr-defined]", "        pass",
        "tests/console/tui/test_blocked.py"
        "::test_frames_are_left_out_and_the_whole_is_wanted_once_output_is_taken",
    ),
    Planted(
        "F35", "the screen is painted five times a second", "console/tui/app/console_app.py",
        "TICK = 0.2\n", "TICK = 0.001\n",
        "tests/console/tui/test_many_at_once.py::test_a_picture_is_asked_for_five_times_a_second_and_by_one_clock",
    ),
    Planted(
        "F35", "what many nodes tell at once is told together", "console/session/controller.py",
        "                    hear(batch)", "                    list(map(hear, ([event] for event in batch)))",
        "tests/console/session/test_controller.py::test_what_thousands_of_nodes_tell_at_once_is_folded_at_once",
    ),
    Planted(
        "F36", "control characters become pictures", "console/text/sanitize.py",
        "        return chr(0x2400 + code)", "        return character",
        "tests/console/tui/test_hostile.py::test_an_escape_is_shown_as_a_picture",
    ),
    Planted(
        "F37", "a finished file takes only a free name", "console/text/atomic_write.py",
        "        os.link(part, path)", "        Path(part).replace(path)",
        "tests/console/text/test_atomic_write.py::test_a_file_that_appears_meanwhile_is_not_overwritten",
    ),
    Planted(
        "F38", "nothing judged is no pass", "console/view/session_verdict.py",
        "    if not judged.has_verdicts and not steps & {StepState.PASS}:\n        return Outcome.NOT_JUDGED\n", "",
        "tests/console/reports/test_every_format.py::test_nothing_tested_is_never_a_pass",
    ),
    Planted(
        "F39", "whatever a plugin raises at import is caught", "probes/plugins/registry.py",
        "        except BaseException as error:\n            errors.append(error)",
        "        except Exception as error:\n            errors.append(error)",
        "tests/probes/plugins/test_registry.py::test_a_broken_plugin_is_named_and_costs_only_itself",
    ),
    Planted(
        "F40", "a reading is of a declared metric in its unit", "probes/plugins/probe_output.py",
        "        if metric is None or metric.unit is not item.unit:", "        if False:",
        "tests/probes/running/test_runner.py::test_readings_that_are_absurd_or_undeclared_are_refused",
    ),
    Planted(
        "F41", "a disk must be listed by its serial number", "probes/blank_devices.py",
        "    if serial not in node.blank_disks:", "    if False:",
        "tests/probes/test_blank_devices.py::test_a_plan_without_agreement_is_refused",
    ),
    Planted(
        "F42", "a scratch directory is no link", "probes/scratch.py",
        '    [ -L "$root" ] && { why=', "    false && { why=",
        "tests/probes/test_scratch.py::test_a_link_is_refused_even_to_a_good_place",
    ),
    Planted(
        "F44", "an empty selection is no selection", "topology/selection.py",
        '        raise SelectionError("an empty node selection, expected names or @groups (all nodes are @all)")',
        "        return list(known)",
        "tests/console/test_doctor.py::test_wrong_nodes_ask_nobody",
    ),
    Planted(
        "F45", "nodes in production are refused", "probes/running/guards/in_use.py",
        "    if node.production:", "    if False:",
        "tests/probes/running/guards/test_in_use.py::test_a_production_node_is_refused_and_a_busy_one_too",
    ),
    Planted(
        "F46", "no resource is taken more than once over", "probes/planning/packing.py",
        "if load[place] + uses.weight[other] > FULL_AT:", "if load[place] + uses.weight[other] > 2 * FULL_AT:",
        "tests/probes/planning/test_promises.py::test_no_link_is_ever_above_its_budget",
    ),
    Planted(
        "F47", "the share of errors stops the round", "probes/running/guards/guard.py",
        "self._errors < self.rule.share * tried:", "self._errors < tried:",
        "tests/probes/running/guards/test_guard.py::test_it_stops_at_the_first_result_that_reaches_the_share",
    ),
    Planted(
        "F50", "infinity and NaN meet no bound", "probes/judging/grading.py",
        "    meets = np.isfinite(value) & (given >=", "    meets = np.isinf(value) | (given >=",
        "tests/probes/judging/test_grading.py::test_a_number_that_is_not_finite_meets_no_bound",
    ),
    Planted(
        "F54", "a database with a trigger is refused", "store/files/file_check.py",
        "    if triggers:\n", "    if not isinstance(triggers, list):\n",
        "tests/store/test_strangers.py::test_what_would_run_when_we_look_or_write_is_refused",
    ),
    Planted(
        "I02", "an asyncssh with known holes is refused", "probes/reach/ssh/login.py",
        "    if numbers < OLDEST or len(numbers) < len(words):", "    if len(numbers) < len(words):",
        "tests/probes/reach/ssh/test_limits.py::test_an_asyncssh_with_known_holes_is_refused",
    ),
    Planted(
        "I05", "a process of ours takes no module of the directory", "console/simulator/cluster.py",
        'sys.executable, "-P", "-m",', 'sys.executable, "-m",',
        "tests/console/test_hostile_directory.py"
        "::test_the_process_of_the_simulated_nodes_takes_nothing_either",
    ),
    Planted(
        "I08", "secret options are masked in the log", "probes/running/runner.py",
        "with mask_values(secrets), loop_watch", "with mask_values(set()), loop_watch",
        "tests/probes/running/test_runner.py::test_records_name_node_and_test_and_hide_secret_options",
    ),
    Planted(
        "I15", "a cell that begins a formula gets a quote", "console/reports/table_csv.py",
        "if is_formula and not _NUMBER.fullmatch(value) else text", "if False else text",
        "tests/console/reports/test_csv.py::test_formulas_become_text",
    ),
    Planted(
        "I16", "the page escapes all that it is given", "console/reports/html.py",
        "        autoescape=True,", "        autoescape=False,",
        "tests/console/reports/test_html.py::test_no_text_of_a_node_becomes_markup",
    ),
)  # fmt: skip
"""Each edit leaves code that runs: what fails is the test, and not the import."""


def run_tests(copy: Path, tests: Sequence[str], *, is_healthy: bool) -> tuple[int, str]:
    """The exit status of pytest on the copy, and what it said; the healthy run alone leaves compiled files."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(copy / "src"), str(copy)))}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    if not is_healthy:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            words, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, f"no end after {SECONDS} s"
    return done.returncode, done.stdout + done.stderr


def try_without(copy: Path, planted: Planted) -> tuple[str, str]:
    """Whether the test fails without the protection, ``yes`` or what else came of it; and what pytest said."""
    path = copy / planted.file
    try:
        path.write_text(planted.take_out(path.read_text()))
    except EditError as error:
        return "the edit does not fit", str(error)
    try:
        status, said = run_tests(copy, [planted.test], is_healthy=False)
    finally:
        shutil.copy2(ROOT / planted.file, path)  # with its time, so that what was compiled of it holds again
    return {0: "NO", 1: "yes"}.get(status, f"did not run ({status})"), said


def choose(numbers: Sequence[str]) -> list[Planted]:
    """The protections against these faults; all without a number."""
    unknown = set(numbers) - {planted.fault for planted in PLANTED}
    if unknown:
        sys.exit(f"no protection is taken out for {', '.join(sorted(unknown))}")
    return [planted for planted in PLANTED if not numbers or planted.fault in numbers]


def main(numbers: Sequence[str]) -> int:
    chosen = choose(numbers)
    with tempfile.TemporaryDirectory(prefix="benchconsole-planted-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=LEFT_OUT)
        status, said = run_tests(copy, [planted.test for planted in chosen], is_healthy=True)
        if status != 0:
            print(f"{said}\nthe tests do not pass with every protection in its place")
            return 1
        print(HEAD, flush=True)
        bad = 0
        for planted in chosen:
            failed, said = try_without(copy, planted)
            print(planted.format_row(failed), flush=True)
            if failed != "yes":
                bad += 1
                print(said, file=sys.stderr)
    print(f"\n{len(chosen) - bad} of {len(chosen)} tests fail without their protection")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

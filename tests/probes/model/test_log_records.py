"""Log records name node and test, hold no secret, and are one bounded line whatever a node says."""

import logging

import pytest

from benchconsole.probes.model.log_records import LONGEST_MESSAGE, ModuleLog, clean_text, current_test, format_command
from benchconsole.probes.model.secret import Secret, is_secret_name, mask_secrets

PLANTED = "hunter2-planted"


@pytest.mark.parametrize(
    "text",
    [
        f"--password={PLANTED}",
        f"PGPASSWORD={PLANTED} psql",
        f"db_password: '{PLANTED}'",
        f'{{"api_key": "{PLANTED}"}}',
        f"https://user:{PLANTED}@host/path",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PLANTED}\n-----END OPENSSH PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{PLANTED}",
    ],
)
def test_what_is_named_as_a_secret_is_masked(text: str) -> None:
    assert PLANTED in text
    assert PLANTED not in mask_secrets(text)


def test_a_living_secret_is_masked_wherever_it_stands() -> None:
    secret = Secret(PLANTED)
    assert mask_secrets(f"sudo: {PLANTED}: no such command") == "sudo: ***: no such command"
    assert secret.line() == f"{PLANTED}\n".encode()
    del secret
    assert PLANTED in mask_secrets(f"sudo: {PLANTED}")


def test_an_empty_secret_masks_nothing() -> None:
    secret = Secret("")
    assert mask_secrets("as it was") == "as it was"
    assert str(secret) == "***"


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [("password", True), ("--auth-token", True), ("api_key", True), ("block", False), ("tasks", False)],
)
def test_secret_options_are_known_by_their_names(name: str, is_secret: bool) -> None:
    assert is_secret_name(name) is is_secret


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (("iperf3", "-c", "10.0.0.1"), "iperf3 -c 10.0.0.1"),
        (("tool", "--password", PLANTED, "-v"), "tool --password *** -v"),
        (("tool", f"--token={PLANTED}"), "tool --token=***"),
        (("echo", "a b", "\x1b[31m"), "echo 'a b' '[31m'"),
    ],
)
def test_a_command_is_shown_without_secrets_and_control_characters(argv: tuple[str, ...], shown: str) -> None:
    assert format_command(argv) == shown


def test_a_long_command_is_cut() -> None:
    shown = format_command(["sh", "-c", "x" * 10_000, *["word"] * 1000])
    assert len(shown) == 160
    assert shown.endswith("…")


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x1b]0;b\x07", "a\x85b", "a\u2028b", "a\u202eb"])
def test_text_of_a_node_is_one_printable_line(text: str) -> None:
    assert clean_text(text, 100).isprintable()


def test_a_record_names_its_node_and_its_test(caplog: pytest.LogCaptureFixture) -> None:
    records = ModuleLog("benchconsole.somewhere")
    with caplog.at_level(logging.DEBUG, "benchconsole"):
        token = current_test.set("r1/ping/n1")
        records.info("n1", "%s said %s", "it", "\x1b[31mred\n" + "x" * 1000)
        current_test.reset(token)
        records.debug("", "of no node")
        records.warning("n2\n", "percent: %%")
    first, second, third = caplog.records
    assert (first.name, first.node, first.test) == ("benchconsole.somewhere", "n1", "r1/ping/n1")  # type: ignore[attr-defined]
    assert len(first.getMessage()) == LONGEST_MESSAGE
    assert first.getMessage().startswith("it said [31mred xxx")
    assert (second.node, second.test) == ("-", "-")  # type: ignore[attr-defined]
    assert (third.node, third.getMessage()) == ("n2", "percent: %")  # type: ignore[attr-defined]


def test_nothing_is_formatted_that_nobody_reads() -> None:
    class Costly:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    logging.getLogger("benchconsole").setLevel(logging.NOTSET)
    records = ModuleLog("benchconsole.somewhere")
    assert not records.is_wanted
    records.info("n1", "%s", Costly())

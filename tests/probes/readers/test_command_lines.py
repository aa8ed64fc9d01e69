"""Command lines as tools print them: options by name, and none where it is not certain which they were."""

import pytest

from benchconsole.probes.readers.command_lines import find_command, list_given, read_options, split_command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ior -a POSIX", ["-a", "POSIX"]),
        ("mdtest '-a' 'POSIX' '-d' '/a b'", ["-a", "POSIX", "-d", "/a b"]),
        ("ior", []),
        ("", []),
        ("ior -o 'open", []),
        ("ior " + "x" * 20_000, []),
    ],
)
def test_words_of_a_command(text: str, words: list[str]) -> None:
    assert split_command(text) == words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-e", "-t", "1m"], {"e": "", "t": "1m"}),
        (["-t1m", "file", "-e"], {"t": "1m", "e": ""}),
        (["-t", "1m", "-t", "2m"], {"t": "2m"}),
        (["--odirect"], {"odirect": ""}),
        ([], {}),
        (["-q"], None),
        (["-t"], None),
        (["--other"], None),
    ],
)
def test_options_of_a_command(words: list[str], found: dict[str, str] | None) -> None:
    assert read_options(words, "et:", ("odirect",)) == found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("$ dd if=a of='b c'", ["if=a", "of=b c"]),
        ("dd if=a of=b", ["if=a", "of=b"]),
        ("[root@n1 tmp]# time /bin/dd if=a 2>&1", ["if=a"]),
        ("ann@n1:~/x$ LC_ALL=C sudo dd if=a > log &", ["if=a"]),
        ("+ dd if=a", ["if=a"]),
        ("dd if='a;b|c>d&' of=b", ["if=a;b|c>d&", "of=b"]),
        ("$ dd", []),
        ("dd: writing 'x': No space left on device", None),
        ("$ ddrescue if=a", None),
        ("$ echo dd", None),
        ("$ dd if=a | cat", None),
        ("$ cd /x && dd if=a", None),
        ("$ (dd if=a)", None),
        ("$ dd if='a", None),
        ("$ dd " + "x" * 20_000, None),
    ],
)
def test_a_command_that_a_shell_was_told(line: str, words: list[str] | None) -> None:
    assert find_command(line, "dd") == words


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("dd", "if=a"), ["if=a"]),
        (("gdd", "if=a"), ["if=a"]),
        (("dd",), None),
        ((), None),
        (("sh", "-c", "script"), None),
        (("env", "LC_ALL=C", "dd"), None),
    ],
)
def test_a_command_that_somebody_said(argv: tuple[str, ...], words: list[str] | None) -> None:
    assert list_given(argv) == words

"""Command lines as tools print them: options by name, and none where it is not certain which they were."""

import pytest

from benchconsole.probes.readers.command_lines import read_options, split_command


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

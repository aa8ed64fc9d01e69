"""Who may ask for a page: token, host and origin, each of which alone is no permission."""

import pytest

from benchconsole.console.web.access import find_refusal, is_loopback, make_token

HOST = "127.0.0.1:8000"
PAGE = "http://127.0.0.1:8000"


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"])
def test_loopback(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["0.0.0.0", "::", "10.0.0.1", "fd00::1", "admin1", "localhost.example", "", "127.1"])
def test_no_loopback(name: str) -> None:
    assert not is_loopback(name)


@pytest.mark.parametrize("host", [HOST, "localhost:9000", "[::1]:8000", "127.0.0.1", "LocalHost:1"])
def test_a_page_of_this_machine_is_answered_at_any_port_of_a_tunnel(host: str) -> None:
    assert find_refusal("secret", "/secret/", [host], [], opens_console=False) == ""
    assert find_refusal("secret", "/secret/console", [host], [f"http://{host}"], opens_console=True) == ""


@pytest.mark.parametrize(
    "hosts",
    [
        ["rebound.example:8000"],
        ["rebound.example"],
        ["127.0.0.1.rebound.example:8000"],
        ["127.0.0.1:8000@rebound.example"],
        ["rebound.example@127.0.0.1:8000"],
        ["10.0.0.1:8000"],
        ["127.0.0.1:8000\nrebound.example"],
        ["127.0.0.1:8000", "rebound.example"],
        [""],
        [],
    ],
)
def test_a_host_that_is_not_loopback_is_refused(hosts: list[str]) -> None:
    assert "loopback only" in find_refusal("secret", "/secret/", hosts, [], opens_console=False)


@pytest.mark.parametrize(
    "origins",
    [
        ["http://evil.example"],
        ["https://127.0.0.1:8000"],
        ["http://127.0.0.1:8001"],
        ["http://localhost:8000"],
        ["http://127.0.0.1:8000.evil.example"],
        ["null"],
        [PAGE, "http://evil.example"],
        [],
    ],
)
def test_a_console_is_opened_by_our_own_page_alone(origins: list[str]) -> None:
    assert "another page" in find_refusal("secret", "/secret/console", [HOST], origins, opens_console=True)
    assert find_refusal("secret", "/secret/console", [HOST], [PAGE], opens_console=True) == ""


@pytest.mark.parametrize("path", ["/", "", "/other/", "/secre/", "/secrets/", "/SECRET/", "//secret/", "/é/"])
def test_without_the_token_nothing_is_answered(path: str) -> None:
    assert "token" in find_refusal("secret", path, [HOST], [], opens_console=False)


def test_each_token_is_new_and_long() -> None:
    assert len({make_token() for _ in range(100)}) == 100
    assert all(len(make_token()) == 43 for _ in range(100))

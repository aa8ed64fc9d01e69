"""Access to the pages: a token in the path, a loopback name as host, and no origin but our own page.

Each check answers one attack. The token keeps out other people on this machine, who can open the port. The host keeps
out a page whose name was made to mean 127.0.0.1 (DNS rebinding). The origin keeps out every other page of the browser
(cross-site websockets, RFC 6455 section 10.2).
"""

import hmac
import ipaddress
import re
import secrets
from collections.abc import Sequence

_HOST = re.compile(r"(localhost|[0-9.]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE)


def make_token() -> str:
    """A new secret for the path: 256 random bits in 43 characters of URLs."""
    return secrets.token_urlsafe(32)


def is_loopback(name: str) -> bool:
    """Whether ``name`` is ``localhost`` or an address of the loopback interface. No name is looked up."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def find_refusal(
    token: str, path: str, hosts: Sequence[str], origins: Sequence[str], *, opens_console: bool
) -> str:  # fmt: skip
    """Why a request is refused, in words; empty where it is not.

    ``hosts`` and ``origins`` are all values of these headers. The port of the host is not compared: ``ssh -L`` gives
    it another number. A request that opens a console must have an origin: every browser sends it with a websocket.
    """
    given = path.removeprefix("/").partition("/")[0]
    host = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if host is None or not is_loopback(host[1].strip("[]")):
        return "this server answers on loopback only: open http://127.0.0.1 or http://localhost with the port"
    if any(origin.lower() != f"http://{hosts[0]}".lower() for origin in origins) or (opens_console and not origins):
        return "the request comes from another page"
    if not hmac.compare_digest(given.encode(), token.encode()):
        return "the address lacks the token: open the whole address that benchconsole web printed"
    return ""

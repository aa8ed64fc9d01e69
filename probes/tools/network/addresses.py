"""Addresses of nodes: literal ones, and names."""

import ipaddress


def find_ip_version(address: str) -> int | None:
    """4 or 6 for an IP address, None for a name."""
    try:
        return ipaddress.ip_address(address).version
    except ValueError:
        return None


def bind_option(flag: str, address: str) -> list[str]:
    """``flag address`` for an IP address; nothing for a name, which may mean another interface."""
    return [flag, address] if find_ip_version(address) else []

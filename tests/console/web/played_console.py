"""A console that is played: it speaks the packets of a real one, and misbehaves as its first argument says.

A stubborn one does not end with its input, and makes its second argument a file then."""

import signal
import struct
import sys
from pathlib import Path

HEAD = struct.Struct(">cI")


def write(kind: bytes, payload: bytes) -> None:
    sys.stdout.buffer.write(HEAD.pack(kind, len(payload)) + payload)
    sys.stdout.buffer.flush()


def read() -> bytes:
    """The next packet as ``D:payload``; empty at the end."""
    head = sys.stdin.buffer.read(HEAD.size)
    if len(head) < HEAD.size:
        return b""
    kind, size = HEAD.unpack(head)
    return bytes(kind) + b":" + sys.stdin.buffer.read(size)


def main(mood: str, mark: str) -> None:
    print("printed before the screen", flush=True)
    if mood == "fails":
        sys.exit("no session \x1b[31mred")
    sys.stdout.buffer.write(b"__GANGLION__\n")
    write(b"D", b"screen of the console;")
    if mood == "garbage":
        sys.stdout.write("a library prints\n")
        sys.stdout.flush()
    while packet := read():
        if packet == b"D:q":
            write(b"M", b'{"type": "exit"}')
            return
        write(b"D", packet + b";")
    if mood == "stubborn":
        Path(mark).touch()
    while mood == "stubborn":
        signal.pause()


main(*sys.argv[1:])

"""The common part of our Python scripts for a node: processes that begin together, files that no cache has seen.

Python 3.6 and its standard library.
"""

COMMON = r"""
import json, os, select, signal, socket, struct, sys, time

if sys.version_info < (3, 6):
    sys.exit("found Python %d.%d, expected 3.6 or newer" % sys.version_info[:2])

SHIFTS = 65536
GRAIN = 1048576


def noise(size):
    # nothing that a file system could compress
    return memoryview(os.urandom(size + SHIFTS))


def block(content, number, size):
    # begins elsewhere each time, so that no two blocks on a disk are alike
    begin = number * 61 % SHIFTS
    return content[begin:begin + size]


def put(out, content):
    while content:
        content = content[out.write(content):]


def evict(descriptor):
    # what is dirty cannot be dropped from the page cache
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def make_file(path, content, size):
    with open(path, "wb", buffering=0) as out:
        for begin in range(0, size, GRAIN):
            put(out, block(content, begin // GRAIN, min(GRAIN, size - begin)))
        evict(out.fileno())


def fetched():
    # bytes that the kernel brought from storage for this process; None where it does not count them
    try:
        with open("/proc/self/io") as counters:
            return int(dict(line.split(": ") for line in counters)["read_bytes"])
    except (OSError, KeyError, ValueError):
        return None


def since(before):
    after = fetched()
    return None if before is None or after is None else after - before


def member(number, work, go, tell):
    status = 1

    def ready():
        os.write(tell, b"r")
        start = os.read(go, 8)
        if len(start) != 8:
            os._exit(1)
        return struct.unpack("d", start)[0]

    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        found = work(number, ready)
        with os.fdopen(tell, "w") as out:
            json.dump(found, out)
        status = 0
    except BaseException as error:
        print("process %d: %s: %s" % (number, type(error).__name__, error), file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def stop(signum, frame):
    sys.exit(128 + signum)


def end(crew):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for pid in crew:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def gang(count, work):
    # runs work(number, ready) in processes of their own; ready() gives all of them the same start
    signal.signal(signal.SIGTERM, stop)
    go, said, crew = os.pipe(), [], []
    try:
        for number in range(1, count + 1):
            pipe = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(go[1])
                member(number, work, go[0], pipe[1])
            os.close(pipe[1])
            crew.append(pid)
            said.append(os.fdopen(pipe[0], "rb", buffering=0))
        if any(each.read(1) != b"r" for each in said):
            sys.exit("a process of the test failed before it began")
        await_round()
        start = struct.pack("d", time.monotonic() + 0.1)
        for _ in crew:
            os.write(go[1], start)
        found = [each.readall() for each in said]
        while crew:
            if os.waitpid(crew.pop(), 0)[1] != 0:
                sys.exit("a process of the test failed")
        return [json.loads(each.decode()) for each in found]
    finally:
        end(crew)


def is_literal(address):
    try:
        socket.getaddrinfo(address, 0, flags=socket.AI_NUMERICHOST)
    except OSError:
        return False
    return True


def report(name, *found):
    print()
    print(json.dumps(dict([("benchmark", name), ("version", 1)] + list(found) + [("end", True)])), flush=True)


def await_round():
    # an abstract socket, because it leaves no file; nobody waits where the script was started by hand
    if gate:
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(chr(0) + gate)
            door.listen(1)
            print("benchconsole: prepared", flush=True)
            door.accept()[0].close()


gate, words = sys.argv[2], sys.argv[3:]
"""

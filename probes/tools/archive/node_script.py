"""Scripts of ``archive`` for the two nodes: a sender and a receiver, a process for each transfer at both ends.

A connection begins with the word of the test and the number of its transfer; the receiver answers with one byte
when it is ready. After the data the sender closes its half, and the receiver sends its counts as JSON:
``[microseconds, bytes]`` by its own clock, 50 ms apart or more, from the first byte to the last. Bytes that came with
the first one came before the clock was read, so they are in the first sample and in no rate.
"""

from benchconsole.probes.tools.python import script_runner

_RECEIVER = r"""
streams, to_files, port = int(words[0]), words[1] == "1", int(words[2])
word, address, idle, silent = words[3].encode(), words[4], float(words[5]), float(words[6])
PORTION, BETWEEN, STRANGER = 16777216, 50000, 3
base = time.monotonic()


def now():
    return round((time.monotonic() - base) * 1e6)


def discard(connection):
    buffer, samples, held, last = memoryview(bytearray(GRAIN)), [], 0, None
    while True:
        got = connection.recv_into(buffer)
        if not got:
            return samples + ([last] if samples and samples[-1] is not last else []), held
        held += got
        last = [now(), held]
        if not samples or last[0] - samples[-1][0] >= BETWEEN:
            samples.append(last)


def store(connection, out):
    # counted when it is on the disk
    buffer, samples, held, down = memoryview(bytearray(GRAIN)), [], 0, 0
    while True:
        got = connection.recv_into(buffer)
        if got and not samples:
            samples.append([now(), got])
        put(out, buffer[:got])
        held += got
        if held > down and (held - down >= PORTION or not got):
            os.fdatasync(out.fileno())
            down = held
            samples.append([now(), down])
        if not got:
            return samples, held


def receive(connection):
    connection.settimeout(silent)
    with connection.makefile("rb") as beginning:
        said = beginning.read(len(word) + 2)
    if len(said) != len(word) + 2 or said[:-2] != word:
        return STRANGER
    connection.settimeout(idle)
    connection.sendall(b"r")
    if to_files:
        with open("transfer-%02d" % int(said[-2:]), "wb", buffering=0) as out:
            samples, held = store(connection, out)
    else:
        samples, held = discard(connection)
    connection.sendall(json.dumps({"received": held, "samples": samples}).encode())
    connection.close()
    return 0


def child(connection):
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        status = receive(connection)
    except Exception as error:
        print("receiver: %s: %s" % (type(error).__name__, error), file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def listen():
    family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    if not is_literal(address) and (place[0].startswith("127.") or place[0] == "::1"):
        sys.exit("%s is %s here, expected an address that the other node can reach" % (address, place[0]))
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(place)
    listener.listen(streams + 8)
    return listener


def serve(listener, crew):
    done, patience = 0, time.monotonic() + idle
    while done < streams:
        if select.select([listener], [], [], 0.05)[0] and len(crew) < streams + 64:
            connection = listener.accept()[0]
            pid = os.fork()
            if pid == 0:
                listener.close()
                child(connection)
            connection.close()
            crew.append(pid)
        for pid in list(crew):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                crew.remove(pid)
                if status and not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == STRANGER):
                    sys.exit("a transfer failed")
                done += not status
        if not crew and not done and time.monotonic() > patience:
            sys.exit("no sender came within %g s" % idle)


signal.signal(signal.SIGTERM, stop)
crew = []
try:
    serve(listen(), crew)
finally:
    end(crew)
"""

_SENDER = r"""
streams, size, seconds, from_files, port = int(words[0]), int(words[1]), float(words[2]), words[3] == "1", int(words[4])
word, address, source, silent = words[5].encode(), words[6], words[7], float(words[8])


def connect():
    family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    connection = socket.socket(family, kind, protocol)
    connection.settimeout(silent)
    if is_literal(source):
        connection.bind((source, 0))
    connection.connect(place)
    return connection


def pieces(content, path):
    # the same content again and again, or the file from where it lies
    if path is None:
        for begin in range(0, size, GRAIN):
            yield block(content, begin // GRAIN, min(GRAIN, size - begin))
        return
    buffer = memoryview(bytearray(GRAIN))
    with open(path, "rb", buffering=0) as data:
        got = data.readinto(buffer)
        while got:
            yield buffer[:got]
            got = data.readinto(buffer)


def transfer(number, ready):
    content, path = noise(GRAIN), "source-%02d" % number if from_files else None
    if path:
        make_file(path, content, size)
    with connect() as connection:
        connection.sendall(word + b"%02d" % number)
        if connection.recv(1) != b"r":
            raise OSError("the receiver hung up")
        start = ready()
        time.sleep(max(0, start - time.monotonic()))  # all streams begin at once
        before, sent = fetched(), 0
        for piece in pieces(content, path):
            connection.sendall(piece)
            sent += len(piece)
            if time.monotonic() - start >= seconds:
                break
        drawn = since(before)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            found = json.loads(answer.read().decode())
    if found["received"] != sent:
        raise OSError("sent %d bytes, %d arrived" % (sent, found["received"]))
    return {"number": number, "sent": sent, "fetched": drawn, "samples": found["samples"]}


found = gang(streams, transfer)
report(
    "archive",
    ("streams", streams), ("size", size), ("source", "files" if from_files else "memory"),
    ("sink", words[9]), ("results", found),
)
"""

RECEIVER = script_runner.make_script(_RECEIVER)
SENDER = script_runner.make_script(_SENDER)

"""A network between skua and PostgreSQL that fails on demand."""

import contextlib
import select
import socket
import struct
import threading
import urllib.parse


class DatabaseProxy:
    """Forwards connections to a server's TCP port. `url` leads to the same database through this proxy."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        port = self._listener.getsockname()[1]
        login = parts.netloc.rsplit("@", 1)[0]
        self.url = urllib.parse.urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{port}", query="sslmode=disable"))
        self._lock = threading.Lock()
        self._pairs = []
        self._ghosts = []
        self._passes = threading.Event()
        self._passes.set()
        self.connections = 0
        # The connections, counted from 1, that the server refuses, and its messages.
        self.refused = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()
        with self._lock:
            everything = [end for pair in self._pairs for end in pair] + self._ghosts
        for end in everything:
            end.close()

    def cut_clients_off(self):
        """All clients lose their connections; the server does not notice, because its ends stay open."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
            self._ghosts += [server for _, server in pairs]
        for client, _ in pairs:
            # With a reset instead of a clean end.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RD)
            client.close()
        self._passes.set()
        return len(pairs)

    def fall_silent(self):
        """Forwards nothing, in either direction, until the clients are disconnected."""
        self._passes.clear()

    def end_ghosts(self):
        """The server notices that its clients are gone."""
        with self._lock:
            ghosts, self._ghosts = self._ghosts, []
        for server in ghosts:
            server.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if words := self.refused.get(self.connections):
                threading.Thread(target=self._refuse, args=(client, words), daemon=True).start()
                continue
            try:
                server = socket.create_connection(self._server)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    @staticmethod
    def _refuse(client, words):
        """Answers like a server that is starting."""
        with client, contextlib.suppress(OSError):
            client.recv(4096)
            fields = b"SFATAL\0VFATAL\0C57P03\0" + b"".join(
                kind + text.encode() + b"\0" for kind, text in words.items()) + b"\0"
            client.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)
            client.shutdown(socket.SHUT_WR)
            client.recv(4096)

    def _is_cut_off(self, pair):
        with self._lock:
            return pair not in self._pairs

    def _pass_on(self, client, server):
        other = {client: server, server: client}
        try:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(65536)
                    self._passes.wait()
                    if self._is_cut_off((client, server)):
                        return
                    if not data:
                        raise OSError
                    other[end].sendall(data)
        except (OSError, ValueError):
            with self._lock:
                if (client, server) not in self._pairs:
                    return
                self._pairs.remove((client, server))
            client.close()
            server.close()


class TransactionPooler:
    """Behaves like PgBouncer with `pool_mode = transaction`: it assigns a server connection to a client for one
    transaction, the most recently used one first. Without passwords."""

    GREETING = (("server_version", "15.0"), ("server_encoding", "UTF8"), ("client_encoding", "UTF8"),
                ("standard_conforming_strings", "on"), ("integer_datetimes", "on"), ("DateStyle", "ISO, MDY"))

    def __init__(self, socket_path, user, database):
        self._socket_path = str(socket_path)
        self._startup = b"user\0" + user.encode() + b"\0database\0" + database.encode() + b"\0\0"
        self._idle = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"postgresql://{user}@127.0.0.1:{self._listener.getsockname()[1]}/{database}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()
        for stream in self._idle:
            stream.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    @staticmethod
    def _message(kind, body):
        return kind + struct.pack("!i", len(body) + 4) + body

    @staticmethod
    def _read(stream):
        """One message: its type, and all of its bytes."""
        head = stream.read(5)
        if len(head) < 5:
            raise EOFError
        return head[:1], head + stream.read(struct.unpack("!i", head[1:])[0] - 4)

    def _lend(self):
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._socket_path)
        stream = connection.makefile("rwb")
        body = struct.pack("!i", 196608) + self._startup
        stream.write(struct.pack("!i", len(body) + 4) + body)
        stream.flush()
        while self._read(stream)[0] != b"Z":
            pass
        return stream

    def _greet(self, stream):
        while True:
            body = stream.read(struct.unpack("!i", stream.read(4))[0] - 4)
            if struct.unpack("!i", body[:4])[0] == 196608:
                break
            stream.write(b"N")  # Refuses TLS and GSSAPI.
            stream.flush()
        stream.write(self._message(b"R", struct.pack("!i", 0)))
        for name, value in self.GREETING:
            stream.write(self._message(b"S", name.encode() + b"\0" + value.encode() + b"\0"))
        stream.write(self._message(b"K", struct.pack("!ii", 0x7EADBEEF, 1)))
        stream.write(self._message(b"Z", b"I"))
        stream.flush()

    def _serve(self, client):
        with contextlib.suppress(OSError, EOFError, struct.error), client.makefile("rwb") as stream:
            self._greet(stream)
            server = None
            while True:
                kind, message = self._read(stream)
                if kind == b"X":
                    return
                server = server or self._lend()
                server.write(message)
                server.flush()
                if kind not in b"QSf c".replace(b" ", b""):
                    continue
                while True:
                    answer, message = self._read(server)
                    stream.write(message)
                    if answer in (b"Z", b"G"):
                        break
                # Before the client has the answer: its next transaction may get this connection.
                if answer == b"Z" and message[-1:] == b"I":
                    with self._lock:
                        self._idle.append(server)
                    server = None
                stream.flush()

"""A client's side of a websocket (RFC 6455), in plain Python."""

import base64
import hashlib
import json
import os
import select
import socket
import struct
import urllib.parse

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE = 1, 2, 8


class Closed(Exception):
    """The server has ended the websocket or the connection; `code` is the websocket's close code, or None."""

    def __init__(self, code=None):
        super().__init__(f"closed with {code}")
        self.code = code


class Websocket:
    """One connection. `status` is the answer to the upgrade; if it is not 101, `body` has the answer's body."""

    def __init__(self, url, target, headers=None, timeout=30):
        address = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout=timeout)
        self.arrived = bytearray()
        key = base64.b64encode(os.urandom(16))
        lines = {
            "Host": address.netloc, "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key.decode(), **(headers or {}),
        }
        head = f"GET {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        try:
            self.upgrade(head, key)
        except Closed:
            self.close()
            raise

    def upgrade(self, head, key):
        self.put(head.encode() + b"\r\n")
        while b"\r\n\r\n" not in self.arrived:
            self.arrive()
        end = self.arrived.index(b"\r\n\r\n")
        first, *lines = self.take(end + 4).decode().strip().split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        if self.status == 101:
            expected = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
            assert self.headers["sec-websocket-accept"] == expected
        else:
            self.body = self.take(int(self.headers.get("content-length", 0)))

    def put(self, data):
        try:
            self.socket.sendall(data)
        except ConnectionError:
            raise Closed from None

    def arrive(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            raise Closed from None
        if not data:
            raise Closed
        self.arrived += data

    def take(self, size):
        while len(self.arrived) < size:
            self.arrive()
        data = bytes(self.arrived[:size])
        del self.arrived[:size]
        return data

    def has_more(self, seconds):
        """Whether a message arrives within this time."""
        return bool(self.arrived) or bool(select.select([self.socket], [], [], seconds)[0])

    def receive(self):
        """The next message: (TEXT or BINARY, its bytes); Closed at the end."""
        while True:
            first, length = self.take(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.take(8))
            content = self.take(length)
            opcode = first & 15
            if opcode == CLOSE:
                raise Closed(struct.unpack(">H", content[:2])[0] if content else None)
            if opcode in (TEXT, BINARY):
                return opcode, content

    def send(self, text):
        content = text.encode()
        head = bytes([0x80 | TEXT])
        if len(content) < 126:
            head += bytes([0x80 | len(content)])
        elif len(content) < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(content))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(content))
        # A mask of zeros does not change the content.
        self.put(head + bytes(4) + content)

    def send_json(self, value):
        self.send(json.dumps(value))

    def close(self):
        self.socket.close()

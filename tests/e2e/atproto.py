"""The formats of the AT Protocol, read and written in plain Python.

Independent of the indexer's own decoders, so that the end-to-end tests compare two readings of the same bytes. Correct
and simple, not fast: CAR v1, DAG-CBOR, MST, CIDs, TIDs, lexicon datetimes, frames.
"""

import base64
import datetime
import hashlib
import re
import struct

BASE32_SORTABLE = "234567abcdefghijklmnopqrstuvwxyz"


class Link(bytes):
    """A CID in binary form, as in tag 42 (without the leading zero)."""

    def text(self):
        return cid_text(self)


class FormatError(Exception):
    """The bytes do not have the required format."""


def cid_text(cid):
    return "b" + base64.b32encode(bytes(cid)).decode().rstrip("=").lower()


def cid_bytes(text):
    """The binary form of a CIDv1 in base32, or None."""
    if not re.fullmatch(r"b[a-z2-7]{20,}", text):
        return None
    padded = text[1:].upper() + "=" * (-len(text[1:]) % 8)
    try:
        return base64.b32decode(padded)
    except ValueError:
        return None


def cid_of(block):
    """The CID of a DAG-CBOR block."""
    return Link(b"\x01\x71\x12\x20" + hashlib.sha256(block).digest())


# DAG-CBOR


def decode_prefix(data, at=0):
    """One DAG-CBOR value at an offset: (value, the offset after it)."""
    initial = data[at]
    major, info = initial >> 5, initial & 31
    at += 1
    if major == 7:
        if initial == 0xF4:
            return False, at
        if initial == 0xF5:
            return True, at
        if initial == 0xF6:
            return None, at
        if initial == 0xFB:
            return struct.unpack(">d", data[at : at + 8])[0], at + 8
        raise FormatError(f"simple value {info}")
    if info < 24:
        argument = info
    elif info < 28:
        size = 1 << (info - 24)
        argument = int.from_bytes(data[at : at + size], "big")
        at += size
    else:
        raise FormatError("indefinite length")
    if major == 0:
        return argument, at
    if major == 1:
        return -1 - argument, at
    if major in (2, 3):
        piece = bytes(data[at : at + argument])
        if len(piece) != argument:
            raise FormatError("string beyond the end")
        return (piece if major == 2 else piece.decode("utf-8")), at + argument
    if major == 4:
        items = []
        for _ in range(argument):
            item, at = decode_prefix(data, at)
            items.append(item)
        return items, at
    if major == 5:
        entries = {}
        for _ in range(argument):
            key, at = decode_prefix(data, at)
            entries[key], at = decode_prefix(data, at)
        return entries, at
    if argument != 42:
        raise FormatError(f"tag {argument}")
    content, at = decode_prefix(data, at)
    if content[:1] != b"\0":
        raise FormatError("CID without its leading zero")
    return Link(content[1:]), at


def decode(data):
    value, end = decode_prefix(data)
    if end != len(data):
        raise FormatError("bytes behind the value")
    return value


def _head(major, argument):
    if argument < 24:
        return bytes([major << 5 | argument])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument < 1 << (8 * size):
            return bytes([major << 5 | code]) + argument.to_bytes(size, "big")
    raise FormatError("number too large")


def encode(value):
    """DAG-CBOR. `Raw` contains bytes that are inserted unchanged."""
    if isinstance(value, Raw):
        return bytes(value)
    if value is None:
        return b"\xf6"
    if value is True:
        return b"\xf5"
    if value is False:
        return b"\xf4"
    if isinstance(value, Link):
        content = b"\0" + value
        return b"\xd8\x2a" + _head(2, len(content)) + content
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        content = value.encode()
        return _head(3, len(content)) + content
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(encode(item) for item in value)
    keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
    return _head(5, len(value)) + b"".join(encode(key) + encode(value[key]) for key in keys)


class Raw(bytes):
    """Encoded bytes, for tests with bytes that no encoder would write."""


def to_json(value):
    """A DAG-CBOR value as the AT Protocol writes it in JSON."""
    if isinstance(value, Link):
        return {"$link": value.text()}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode().rstrip("=")}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return value


def from_json(value):
    """The value that `to_json` writes so."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"$link"}:
            return Link(cid_bytes(value["$link"]))
        if value.keys() == {"$bytes"}:
            return base64.b64decode(value["$bytes"] + "=" * (-len(value["$bytes"]) % 4))
        return {key: from_json(item) for key, item in value.items()}
    return value


# CAR and repository


def _uvarint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _put_uvarint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_car(data):
    """(roots, {cid: block}). Every block's hash is checked."""
    length, at = _uvarint(data, 0)
    header = decode(data[at : at + length])
    at += length
    blocks = {}
    while at < len(data):
        length, at = _uvarint(data, at)
        section = data[at : at + length]
        if len(section) != length:
            raise FormatError("the CAR is cut short")
        at += length
        cid, block = Link(section[:36]), section[36:]
        if hashlib.sha256(block).digest() != cid[4:]:
            raise FormatError(f"{cid.text()} is not the hash of its block")
        blocks[cid] = block
    return header["roots"], blocks


def write_car(root, blocks):
    header = encode({"roots": [root], "version": 1})
    parts = [_put_uvarint(len(header)), header]
    for cid, block in blocks.items():
        parts += [_put_uvarint(len(cid) + len(block)), bytes(cid), block]
    return b"".join(parts)


def walk_mst(blocks, root):
    """Every (path, cid) of a tree, in order."""
    node = decode(blocks[root])
    if node["l"] is not None:
        yield from walk_mst(blocks, node["l"])
    key = b""
    for entry in node["e"]:
        key = key[: entry["p"]] + entry["k"]
        yield key.decode(), entry["v"]
        if entry["t"] is not None:
            yield from walk_mst(blocks, entry["t"])


def build_mst(entries):
    """The tree of {path: cid}: (root, {cid: block})."""
    blocks = {}

    def depth_of(key):
        digest = hashlib.sha256(key.encode()).digest()
        zeros = 256 - int.from_bytes(digest, "big").bit_length()
        return zeros // 2

    def node(keys, layer):
        own = [index for index, key in enumerate(keys) if depth_of(key) == layer]
        borders = [-1] + own + [len(keys)]
        children = [keys[a + 1 : b] for a, b in zip(borders, borders[1:])]
        links = [node(child, layer - 1) if child else None for child in children]
        previous, items = b"", []
        for index, after in zip(own, links[1:]):
            key = keys[index].encode()
            shared = 0
            while shared < min(len(previous), len(key)) and previous[shared] == key[shared]:
                shared += 1
            items.append({"p": shared, "k": key[shared:], "v": entries[keys[index]], "t": after})
            previous = key
        block = encode({"l": links[0], "e": items})
        blocks[cid_of(block)] = block
        return cid_of(block)

    keys = sorted(entries, key=str.encode)
    top = max((depth_of(key) for key in keys), default=0)
    return node(keys, top), blocks


class Repository:
    """A repository from its CAR: did, rev, and records as {path: (cid, block)}."""

    def __init__(self, car):
        roots, blocks = read_car(car)
        commit = decode(blocks[roots[0]])
        self.did = commit["did"]
        self.rev = commit.get("rev")
        self.records = {path: (cid, blocks[cid]) for path, cid in walk_mst(blocks, commit["data"])}


# Names and times

RKEY_TID = re.compile(r"[2-7ab][234567a-z]{12}")


def tid_number(text):
    number = 0
    for character in text:
        number = number << 5 | BASE32_SORTABLE.index(character)
    return number


def tid_text(number):
    return "".join(BASE32_SORTABLE[number >> shift & 31] for shift in range(60, -1, -5))


def rkey_number(text):
    """The number that Skua stores for a record key: a TID's value, or minus 63 bits of a hash."""
    if RKEY_TID.fullmatch(text):
        return tid_number(text)
    return -(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1)


DATETIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(Z|[+-]\d\d:\d\d)"
)


def datetime_microseconds(text):
    """A lexicon datetime as (microseconds since 1970, exact), or None if it is not a datetime."""
    match = DATETIME.fullmatch(text)
    if not match or match.group(8) == "-00:00":
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction = match.group(7) or ""
    offset = 0
    if match.group(8) != "Z":
        sign = -1 if match.group(8)[0] == "-" else 1
        offset = sign * (int(match.group(8)[1:3]) * 60 + int(match.group(8)[4:6]))
    try:
        days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    return seconds * 1_000_000 + int(fraction[:6].ljust(6, "0")), not fraction[6:].strip("0")


def is_usual_datetime(text):
    """Whether the text is the one that `bsky.time_text` makes of its time."""
    return bool(re.fullmatch(r"(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:(?!000)\d{3})?Z", text))


AT_URI = re.compile(r"at://(did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-])/([A-Za-z0-9.-]+)/([A-Za-z0-9_~.:-]{1,512})")


def parse_at_uri(uri):
    """(did, collection, rkey) of a URI that names a record by DID; otherwise None."""
    match = AT_URI.fullmatch(uri)
    return match.groups() if match else None


# Frames and captures


def read_capture(data):
    """Every frame of a capture, as bytes."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + length]
        at += 4 + length


def write_capture(frames):
    return b"".join(struct.pack("<I", len(frame)) + frame for frame in frames)


def decode_frame(frame):
    """(header, body)."""
    header, end = decode_prefix(frame)
    return header, decode(frame[end:])


def encode_frame(kind, body):
    return encode({"op": 1, "t": kind}) + encode(body)

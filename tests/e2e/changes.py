"""A client of `skua serve`: server-sent events over http.client."""

import http.client
import json
import re
import urllib.parse


class ChangeClient:
    """Reads /changes. `events` has the received changes, `pos` the position of the last message."""

    def __init__(self, url, parameters="", last_event_id=None, timeout=30):
        address = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(address.netloc, timeout=timeout)
        headers = {"Accept": "text/event-stream"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        self.connection.request("GET", "/changes" + parameters, headers=headers)
        self.response = self.connection.getresponse()
        self.events, self.pos, self.error = [], None, None

    def receive(self):
        """The next message: (type, JSON). None at the end of the stream."""
        kind, data = "message", None
        for line in iter(self.response.readline, b""):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "id":
                self.pos = value
            elif name == "data":
                data = json.loads(value)
            elif data is not None:
                return kind, data
        return None

    def read_to(self, number):
        """Reads changes and heartbeats until the position has this number, or an error."""
        while self.pos is None or int(self.pos.partition("-")[2]) < number:
            message = self.receive()
            if message is None or message[0] == "error":
                self.error = message and message[1]
                break
            if message[0] == "message":
                self.events.append(message[1])
        return self

    def close(self):
        self.connection.close()


def served_url(program):
    """The URL that `skua serve` has printed."""
    for line in list(program.stdout):
        found = re.search(r"serving (http://[^/]+)/", line)
        if found:
            return found.group(1)
    return None


def folded(events):
    """{uri: (cid, record)} after the changes. A superseded change has no record; a later one follows."""
    records = {}
    for event in events:
        if event["kind"] != "record":
            continue
        uri = f"at://{event['did']}/{event['collection']}/{event['rkey']}"
        if event["op"] == "delete":
            del records[uri]
        else:
            records[uri] = event["cid"], event.get("record")
    return records

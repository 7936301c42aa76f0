"""What the frames of a capture leave: the records, the hosting statuses, and the posts that were deleted.

A simple reading of the frames in order, without revisions. A capture of a relay has each commit once and in order.
"""

import atproto

POST = "app.bsky.feed.post"


class Records:
    """The records of one account: {path: (cid, block)}, as in atproto.Repository."""

    def __init__(self):
        self.records = {}


class CaptureState:
    """`repositories`: {did: Records} of all accounts that are not deleted. `statuses`: {did: hosting status} of all
    accounts, None for active ones. `deleted_posts`: the AT-URIs of posts that existed and were deleted, without those of
    deleted accounts."""

    def __init__(self, capture):
        self.repositories, self.statuses, self.deleted_posts = {}, {}, set()
        for frame in atproto.read_capture(capture):
            header, body = atproto.decode_frame(frame)
            if header["t"] == "#commit":
                self._commit(body)
            elif header["t"] == "#account":
                self._account(body)

    def _commit(self, body):
        did = body["repo"]
        records = self.repositories.setdefault(did, Records()).records
        _, blocks = atproto.read_car(body["blocks"])
        for op in body["ops"]:
            uri = f"at://{did}/{op['path']}"
            if op["action"] == "delete":
                # A capture that begins in the middle deletes records that it does not have.
                records.pop(op["path"], None)
                if f"/{POST}/" in uri:
                    self.deleted_posts.add(uri)
            else:
                records[op["path"]] = op["cid"], blocks[op["cid"]]
                self.deleted_posts.discard(uri)

    def _account(self, body):
        did = body["did"]
        self.statuses[did] = None if body["active"] else body["status"]
        if self.statuses[did] == "deleted":
            self.repositories.pop(did, None)
            self.deleted_posts = {uri for uri in self.deleted_posts if not uri.startswith(f"at://{did}/")}

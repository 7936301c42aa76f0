"""The projections of a database, and an independent recount of them from the repositories of a network."""

import collections
import os
import subprocess

import atproto
from harness import BIN

NAMES = ("actor_stats", "notifications", "post_rules", "post_stats", "tag_trends")
POST, LIKE, REPOST, FOLLOW = ("app.bsky.feed.post", "app.bsky.feed.like", "app.bsky.feed.repost", "app.bsky.graph.follow")
THREADGATE, POSTGATE, LIST_ITEM = "app.bsky.feed.threadgate", "app.bsky.feed.postgate", "app.bsky.graph.listitem"
COLLECTIONS = (POST, LIKE, REPOST, FOLLOW, THREADGATE, POSTGATE, LIST_ITEM)
# A reply notifies the authors of so many posts above it.
ANCESTORS = 5


def _skua(url, *arguments):
    done = subprocess.run([BIN / "skua", "consumers", *arguments], env={**os.environ, "SKUA_DATABASE_URL": url},
                          check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.strip() or done.stderr.strip()


def add(url, *options):
    """Adds all projections to a migrated database."""
    for name in NAMES:
        code, text = _skua(url, "add", name, *options)
        assert code == 0, text


def differences(url):
    """Builds the projections that are not built, applies all changes, and compares the tables with the records."""
    code, text = _skua(url, "run-until-idle")
    if code != 0:
        return [f"run-until-idle: {text}"]
    results = [(name, *_skua(url, "verify", name)) for name in NAMES]
    return [f"{name}: {text}" for name, code, text in results if code != 0]


class Recount:
    """Counts and notifications of `repositories` ({did: atproto.Repository}), computed from the blocks. `invalid`: the
    AT-URIs of records that break their lexicon, which count as absent."""

    def __init__(self, repositories, invalid):
        self.records = {}
        for did, repository in repositories.items():
            for path, (_, block) in repository.records.items():
                uri = f"at://{did}/{path}"
                if path.split("/")[0] in COLLECTIONS and uri not in invalid:
                    self.records[uri] = atproto.decode(block)

    def of(self, collection):
        """(author, uri, record), in the order of the record keys."""
        for uri in sorted(self.records):
            did, found, _ = uri.removeprefix("at://").split("/")
            if found == collection:
                yield did, uri, self.records[uri]

    def firsts(self, collection):
        """The first record of each account and subject."""
        seen = set()
        for did, uri, record in self.of(collection):
            subject = record["subject"] if collection == FOLLOW else record["subject"]["uri"]
            if (did, subject) not in seen:
                seen.add((did, subject))
                yield did, uri, record, subject

    @staticmethod
    def quoted(record):
        embed = record.get("embed") or {}
        inner = embed.get("record") or {}
        if embed.get("$type") == "app.bsky.embed.recordWithMedia":
            inner = inner.get("record") or {}
        uri = inner.get("uri") if isinstance(inner, dict) else None
        return uri if uri and f"/{POST}/" in uri else None

    @staticmethod
    def parent(record):
        return (record.get("reply") or {}).get("parent", {}).get("uri")

    @staticmethod
    def author(uri):
        return uri.removeprefix("at://").split("/")[0]

    def gate(self, collection, post):
        """The gate of a post. It has the account and the key of the post."""
        gate = self.records.get(f"at://{self.author(post)}/{collection}/{post.split('/')[-1]}")
        return gate if gate and gate["post"] == post else None

    def may_reply(self, did, root, gate):
        owner = self.author(root)
        if did == owner or "allow" not in gate:
            return True
        follows = {(author, record["subject"]) for author, _, record in self.of(FOLLOW)}
        for rule in gate["allow"]:
            name = rule["$type"].partition("#")[2]
            if name == "followerRule" and (did, owner) in follows or name == "followingRule" and (owner, did) in follows:
                return True
            if name == "mentionRule" and did in self.mentioned(self.records.get(root, {})):
                return True
            if name == "listRule" and any(
                    item["list"] == rule["list"] and item["subject"] == did and adder == self.author(rule["list"])
                    for adder, _, item in self.of(LIST_ITEM)):
                return True
        return False

    @staticmethod
    def mentioned(record):
        features = [feature for facet in record.get("facets") or [] for feature in facet.get("features") or []]
        return [feature["did"] for feature in features if feature.get("$type") == "app.bsky.richtext.facet#mention"]

    def broken_rules(self):
        """{uri: set of threadgate, embedding, hidden and root}, of the posts that break a rule."""
        broken = collections.defaultdict(set)
        for did, uri, record in self.of(POST):
            reply = record.get("reply")
            if reply:
                root, parent = reply["root"]["uri"], self.records.get(reply["parent"]["uri"])
                gate = self.gate(THREADGATE, root)
                if gate and not self.may_reply(did, root, gate):
                    broken[uri].add("threadgate")
                if gate and uri in gate.get("hiddenReplies", []):
                    broken[uri].add("hidden")
                if parent:
                    above = parent.get("reply")
                    is_top = reply["parent"]["uri"] == root
                    if above if is_top else not above or above["root"]["uri"] != root:
                        broken[uri].add("root")
            quoted = self.quoted(record)
            gate = self.gate(POSTGATE, quoted) if quoted else None
            if gate and (gate.get("embeddingRules") and did != self.author(quoted)
                         or uri in gate.get("detachedEmbeddingUris", [])):
                broken[uri].add("embedding")
        return dict(broken)

    def post_stats(self):
        """{uri: [likes, reposts, replies, quotes]}, without posts that have none."""
        stats = collections.defaultdict(lambda: [0, 0, 0, 0])
        for place, collection in enumerate((LIKE, REPOST)):
            for _, _, _, subject in self.firsts(collection):
                if f"/{POST}/" in subject:
                    stats[subject][place] += 1
        broken = self.broken_rules()
        for _, uri, record in self.of(POST):
            if self.parent(record) and "threadgate" not in broken.get(uri, ()):
                stats[self.parent(record)][2] += 1
            if self.quoted(record):
                stats[self.quoted(record)][3] += 1
        return dict(stats)

    def actor_stats(self):
        """{did: [followers, follows, posts]}, without accounts that have none."""
        stats = collections.defaultdict(lambda: [0, 0, 0])
        for did, _, _, subject in self.firsts(FOLLOW):
            stats[subject][0] += 1
            stats[did][1] += 1
        for did, _, _ in self.of(POST):
            stats[did][2] += 1
        return dict(stats)

    def notifications(self):
        """{(recipient, uri of the record, reason, uri of the subject or None)}"""
        found = set()

        def notify(did, uri, candidates):
            notified = {did}
            for recipient, reason, subject in candidates:
                if recipient not in notified:
                    notified.add(recipient)
                    found.add((recipient, uri, reason, subject))

        author, broken = self.author, self.broken_rules()
        for collection, reason in ((LIKE, "like"), (REPOST, "repost")):
            for did, uri, record, subject in self.firsts(collection):
                via = (record.get("via") or {}).get("uri", "")
                # `via` may name any record; only a repost is one.
                notify(did, uri, [(author(subject), reason, subject)]
                       + ([(author(via), f"{reason}-via-repost", via)] if f"/{REPOST}/" in via else []))
        for did, uri, _, subject in self.firsts(FOLLOW):
            notify(did, uri, [(subject, "follow", None)])
        for did, uri, record in self.of(POST):
            candidates = [(mentioned, "mention", None) for mentioned in self.mentioned(record)]
            rules = broken.get(uri, ())
            if self.quoted(record) and "embedding" not in rules:
                candidates.append((author(self.quoted(record)), "quote", self.quoted(record)))
            above = self.parent(record)
            for _ in range(ANCESTORS):
                if above not in self.records or "threadgate" in rules:
                    break
                candidates.append((author(above), "reply", above))
                if "hidden" in broken.get(above, ()):
                    break
                above = self.parent(self.records[above])
            notify(did, uri, candidates)
        return found

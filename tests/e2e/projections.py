"""The projections of a database, and an independent recount of them from the repositories of a network."""

import collections
import os
import subprocess

import atproto
from harness import BIN

NAMES = ("actor_stats", "notifications", "post_stats", "tag_trends")
POST, LIKE, REPOST, FOLLOW = ("app.bsky.feed.post", "app.bsky.feed.like", "app.bsky.feed.repost", "app.bsky.graph.follow")
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
                if path.split("/")[0] in (POST, LIKE, REPOST, FOLLOW) and uri not in invalid:
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

    def post_stats(self):
        """{uri: [likes, reposts, replies, quotes]}, without posts that have none."""
        stats = collections.defaultdict(lambda: [0, 0, 0, 0])
        for place, collection in enumerate((LIKE, REPOST)):
            for _, _, _, subject in self.firsts(collection):
                if f"/{POST}/" in subject:
                    stats[subject][place] += 1
        for _, _, record in self.of(POST):
            for place, target in ((2, self.parent(record)), (3, self.quoted(record))):
                if target:
                    stats[target][place] += 1
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

        def author(uri):
            return uri.removeprefix("at://").split("/")[0]

        for collection, reason in ((LIKE, "like"), (REPOST, "repost")):
            for did, uri, record, subject in self.firsts(collection):
                via = (record.get("via") or {}).get("uri", "")
                # `via` may name any record; only a repost is one.
                notify(did, uri, [(author(subject), reason, subject)]
                       + ([(author(via), f"{reason}-via-repost", via)] if f"/{REPOST}/" in via else []))
        for did, uri, _, subject in self.firsts(FOLLOW):
            notify(did, uri, [(subject, "follow", None)])
        for did, uri, record in self.of(POST):
            features = [feature for facet in record.get("facets") or [] for feature in facet.get("features") or []]
            candidates = [(feature["did"], "mention", None) for feature in features
                          if feature.get("$type") == "app.bsky.richtext.facet#mention"]
            if self.quoted(record):
                candidates.append((author(self.quoted(record)), "quote", self.quoted(record)))
            above = self.parent(record)
            for _ in range(ANCESTORS):
                if above not in self.records:
                    break
                candidates.append((author(above), "reply", above))
                above = self.parent(self.records[above])
            notify(did, uri, candidates)
        return found

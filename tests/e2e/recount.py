"""Counts, broken rules and notifications, computed from the JSON of the records. Nothing comes from Skua's tables."""

import collections
import functools

import atproto
import oracle
import post_content

POST, LIKE, REPOST, FOLLOW = ("app.bsky.feed.post", "app.bsky.feed.like", "app.bsky.feed.repost", "app.bsky.graph.follow")
THREADGATE, POSTGATE, LIST_ITEM = "app.bsky.feed.threadgate", "app.bsky.feed.postgate", "app.bsky.graph.listitem"
BLOCK, LIST_BLOCK, LIST = "app.bsky.graph.block", "app.bsky.graph.listblock", "app.bsky.graph.list"
VERIFICATION, PROFILE, STARTER_PACK = "app.bsky.graph.verification", "app.bsky.actor.profile", "app.bsky.graph.starterpack"
# A reply notifies the authors of so many posts above it.
ANCESTORS = 4
HOUR = 3_600_000_000


def author(uri):
    return uri.removeprefix("at://").split("/")[0]


def collection_of(uri):
    return uri.removeprefix("at://").split("/")[1]


def target(reference, collection=None):
    """The AT-URI of a strongRef or a URI, if it names a record by DID, and of this collection; otherwise None. A strongRef
    whose CID is not one of a record refers to nothing."""
    uri = reference
    if isinstance(reference, dict):
        uri = reference.get("uri")
        cid = atproto.cid_bytes(reference["cid"]) or b""
        if len(cid) != 36 or not cid.startswith(b"\x01\x71\x12\x20"):
            return None
    parts = atproto.parse_at_uri(uri) if uri else None
    return uri if parts and collection in (None, parts[1]) else None


def quoted(record):
    """The reference of the quoted record, or None."""
    embed = record.get("embed") or {}
    if embed.get("$type") == "app.bsky.embed.recordWithMedia":
        return embed["record"]["record"]
    return embed["record"] if embed.get("$type") == "app.bsky.embed.record" else None


def quoted_post(record):
    return target(quoted(record), POST)


def parent(record):
    return target((record.get("reply") or {}).get("parent"), POST)


def root_of(record):
    return target((record.get("reply") or {}).get("root"), POST)


def mentioned(record):
    features = [feature for facet in record.get("facets") or [] for feature in facet["features"]]
    return [feature["did"] for feature in features if feature["$type"] == "app.bsky.richtext.facet#mention"]


def rule_names(rules):
    return {rule["$type"].partition("#")[2] for rule in rules or []}


class Recount:
    """Of `repositories` ({did: atproto.Repository}). Records that violate their lexicon count as absent: `records` has
    the others, {AT-URI: JSON}."""

    def __init__(self, repositories):
        self.records, self.invalid = {}, set()
        for did, repository in repositories.items():
            for path, (_, block) in repository.records.items():
                collection, rkey = path.split("/", 1)
                record = oracle.without_nul(atproto.to_json(atproto.decode(block)))
                if collection in oracle.WITH_TABLE and oracle.is_invalid(collection, rkey, record):
                    self.invalid.add(f"at://{did}/{path}")
                else:
                    self.records[f"at://{did}/{path}"] = record
        self.of_collection = collections.defaultdict(list)
        for uri in sorted(self.records, key=lambda uri: (author(uri), atproto.rkey_number(uri.split("/")[-1]))):
            self.of_collection[collection_of(uri)].append(uri)

    def of(self, collection):
        """(author, uri, record), in the order of the accounts and of the numbers of the record keys."""
        for uri in self.of_collection[collection]:
            yield author(uri), uri, self.records[uri]

    def firsts(self, collection):
        """The first record of each account and subject."""
        seen = set()
        for did, uri, record in self.of(collection):
            subject = record["subject"] if collection in (FOLLOW, BLOCK, VERIFICATION) else target(record["subject"])
            if subject and (did, subject) not in seen:
                seen.add((did, subject))
                yield did, uri, record, subject

    def gate(self, collection, post):
        """The gate of a post. It has the account and the key of the post."""
        gate = self.records.get(f"at://{author(post)}/{collection}/{post.split('/')[-1]}")
        return gate if gate and gate["post"] == post else None

    @functools.cached_property
    def follows(self):
        return {(did, record["subject"]) for did, _, record in self.of(FOLLOW)}

    @functools.cached_property
    def members(self):
        """{(list, account)}, by the list items of the owners of the lists."""
        return {(item["list"], item["subject"]) for did, _, item in self.of(LIST_ITEM) if author(item["list"]) == did}

    def may_reply(self, did, root, gate):
        owner = author(root)
        if did == owner or "allow" not in gate:
            return True
        names = rule_names(gate["allow"])
        return ("followerRule" in names and (did, owner) in self.follows
                or "followingRule" in names and (owner, did) in self.follows
                or "mentionRule" in names and did in mentioned(self.records.get(root, {}))
                or any((target(rule.get("list"), LIST), did) in self.members for rule in gate["allow"]))

    @functools.cached_property
    def broken_rules(self):
        """{uri: set of threadgate, embedding, hidden and root}, of the posts that break a rule."""
        broken = collections.defaultdict(set)
        for did, uri, record in self.of(POST):
            root = root_of(record)
            gate = self.gate(THREADGATE, root) if root else None
            if gate and not self.may_reply(did, root, gate):
                broken[uri].add("threadgate")
            if gate and uri in gate.get("hiddenReplies", []):
                broken[uri].add("hidden")
            above = self.records.get(parent(record))
            if root and above is not None and not self.has_root(parent(record), above, root):
                broken[uri].add("root")
            quote = quoted_post(record)
            gate = self.gate(POSTGATE, quote) if quote else None
            if gate and ("disableRule" in rule_names(gate.get("embeddingRules")) and did != author(quote)
                         or uri in gate.get("detachedEmbeddingUris", [])):
                broken[uri].add("embedding")
        return dict(broken)

    @staticmethod
    def has_root(uri, record, root):
        """Whether a post is the root of a thread, or is in the thread of this root."""
        if uri == root:
            return not record.get("reply")
        return root_of(record) == root

    def breaks(self, uri, rule):
        return rule in self.broken_rules.get(uri, ())

    @functools.cached_property
    def references(self):
        """{(role, target): number}: how often records and accounts are referred to, as the change log counts it."""
        counts = collections.Counter()
        for collection, role in ((LIKE, "like"), (REPOST, "repost"), (FOLLOW, "follow"), (BLOCK, "block")):
            counts.update((role, subject) for _, _, _, subject in self.firsts(collection))
        counts.update(("following", did) for did, _, _, _ in self.firsts(FOLLOW))
        for did, uri, record in self.of(POST):
            counts["post", did] += 1
            if parent(record) and not self.breaks(uri, "threadgate"):
                counts["reply", parent(record)] += 1
            if target(quoted(record)):
                counts["quote", target(quoted(record))] += 1
        for _, _, item in self.of(LIST_ITEM):
            counts["list item", item["list"]] += 1
            counts["listed", item["subject"]] += 1
        return counts

    def _table(self, roles, is_key):
        """{target: numbers}, without targets that have none."""
        keys = {key for role, key in self.references if role in roles and is_key(key)}
        return {key: [self.references[role, key] for role in roles] for key in keys}

    def post_stats(self):
        """{uri: [likes, reposts, replies, quotes]}, without posts that have none."""
        return self._table(("like", "repost", "reply", "quote"), lambda uri: collection_of(uri) == POST)

    def actor_stats(self):
        """{did: [followers, follows, posts]}, without accounts that have none."""
        return self._table(("follow", "following", "post"), lambda did: True)

    def tag_trends(self, indexed_at):
        """{(hour, tag): posts}. `indexed_at`: {uri: microseconds}. Hours are microseconds too."""
        counts = collections.Counter()
        for _, uri, record in self.of(POST):
            hour = self.sort_at(uri, indexed_at) // HOUR * HOUR
            counts.update((hour, tag) for tag in post_content.all_tags(record) or [])
        return dict(counts)

    def sort_at(self, uri, indexed_at):
        created_at = self.records[uri].get("createdAt")  # a profile can have none
        return min(atproto.datetime_microseconds(created_at)[0], indexed_at[uri]) if created_at else indexed_at[uri]

    def notifications(self):
        """{(recipient, uri of the record, reason, uri of the subject or None)}"""
        found = set()
        for collection, reason in ((LIKE, "like"), (REPOST, "repost")):
            for did, uri, record, subject in self.firsts(collection):
                # `via` may name any record; only a repost is one.
                via = target(record.get("via"), REPOST)
                # A like of an own record notifies nobody. A like of an own repost notifies twice.
                if author(subject) != did:
                    self._notify(found, did, uri, [(author(subject), reason, subject)])
                    self._notify(found, did, uri, [(author(via), f"{reason}-via-repost", via)] if via else [])
        for did, uri, _, subject in self.firsts(FOLLOW):
            self._notify(found, did, uri, [(subject, "follow", None)])
        for did, uri, _, subject in self.firsts(VERIFICATION):
            self._notify(found, did, uri, [(subject, "verified", None)])
        for did, uri, record in self.of(PROFILE):
            pack = target(record.get("joinedViaStarterPack"), STARTER_PACK)
            self._notify(found, did, uri, [(author(pack), "starterpack-joined", pack)] if pack else [])
        for did, uri, record in self.of(POST):
            candidates = [(account, "mention", None) for account in mentioned(record)]
            if quoted_post(record) and not self.breaks(uri, "embedding"):
                candidates.append((author(quoted_post(record)), "quote", quoted_post(record)))
            if not self.breaks(uri, "threadgate"):
                candidates += [(author(above), "reply", above) for above in self._above(record)]
            self._notify(found, did, uri, candidates)
        return found

    def _above(self, record):
        """The posts above a reply that are notified of it, from the parent on."""
        above = parent(record)
        for _ in range(ANCESTORS):
            if above not in self.records:
                return
            yield above
            if self.breaks(above, "hidden"):
                return
            above = parent(self.records[above])

    @staticmethod
    def _notify(found, did, uri, candidates):
        notified = {did}
        for recipient, reason, subject in candidates:
            if recipient not in notified:
                notified.add(recipient)
                found.add((recipient, uri, reason, subject))

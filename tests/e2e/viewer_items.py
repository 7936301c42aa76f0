"""What accounts see: blocks in both directions, moderation lists, labels of trusted labelers, and hidden replies, of all
accounts and records of the network. The rules are those of the AppView of Bluesky (packages/bsky in bluesky-social/atproto);
comments name its files and functions.

A viewer is an account, or an empty text for a person who is not signed in."""

import collections

from count_items import visible_notifications
from function_items import quotes, replies
from items import Kind
from recount import BLOCK, FOLLOW, LIST, LIST_BLOCK, POST, THREADGATE, author, parent, quoted, root_of, target

ABOVE = 3
VIEWERS = "(select did, id from bsky.actors where active is not null union all select '', null)"


class Sight:
    """`labels`: {(subject, value)}, the labels in force of trusted labelers."""

    def __init__(self, records, labels):
        self.records, self.labels = records, labels
        found = records.recount
        self.blocks = {(did, block["subject"]): uri for did, uri, block in reversed(list(found.of(BLOCK)))}
        # hydration/hydrator.ts, isModList: another list does not block. views/index.ts, recordActive: nor does one of an
        # account that is not there.
        self.list_blocks = {}
        for did, uri, block in reversed(list(found.of(LIST_BLOCK))):
            name = target(block["subject"], LIST)
            record = found.records.get(name)
            if record and record["purpose"].endswith("#modlist") and author(name) not in records.hidden:
                self.list_blocks.update({(did, member): name for of, member in found.members if of == name})

    def is_blocked(self, a, b):
        """hydration/graph.ts, Blocks.get: an account does not block itself."""
        pairs = {(a, b), (b, a)}
        return a != b and not pairs.isdisjoint(self.blocks.keys() | self.list_blocks.keys())

    def is_labelled(self, viewer, uri):
        """hydration/label.ts: TAKEDOWN_LABELS. Clients apply !hide, but not to what the viewer wrote."""
        values = ["!takedown", "!suspend"] + ["!hide"] * (author(uri) != viewer)
        return any((subject, value) in self.labels for subject in (uri, author(uri)) for value in values)

    def hides(self, viewer, uri):
        return self.is_blocked(viewer, author(uri)) or self.is_labelled(viewer, uri)

    @property
    def viewers(self):
        return [*self.records.statuses, ""]


def kinds(sight):
    def blocked(records):
        return [(a, b) for a in records.statuses for b in records.statuses if sight.is_blocked(a, b)]

    def relationships(records):
        """data-plane/server/routes/relationships.ts"""
        follows = {(did, subject): uri for did, uri, _, subject in records.recount.firsts(FOLLOW)}
        for a in records.statuses:
            for b in records.statuses:
                one, other = (a, b), (b, a)
                maps = (follows, sight.blocks, sight.list_blocks)
                yield a, b, *(None if a == b else of.get(pair) for of in maps for pair in (one, other))

    def seen_quotes(records):
        """api/app/bsky/feed/getQuotes.ts, noBlocksOrNeedsReview"""
        for viewer in sight.viewers:
            for subject, uri in quotes(records):
                if not sight.hides(viewer, uri) and not sight.is_blocked(author(uri), author(subject)):
                    yield viewer, subject, uri

    def notifications(records):
        """api/app/bsky/notification/listNotifications.ts, noBlockOrMutesOrNeedsFiltering"""
        for recipient, reason, _, uri, subject in visible_notifications(records):
            if reason == "reply":
                root = root_of(records.recount.records[uri])
                gate = records.recount.gate(THREADGATE, root) if root and author(root) == recipient else None
                if gate and uri in gate.get("hiddenReplies", []):
                    continue
            if not sight.hides(recipient, uri):
                yield recipient, reason, uri, subject

    def threads(records):
        """views/index.ts: thread, threadParent, threadReplies"""
        below = collections.defaultdict(list)
        for above, uri in replies(records):
            below[above].append(uri)
        visible = dict(records.visible(POST))
        for viewer in sight.viewers:
            for anchor in visible:
                if not sight.hides(viewer, anchor):
                    for uri, depth in thread(records, visible, below, viewer, anchor):
                        yield viewer, anchor, uri, depth

    def thread(records, visible, below, viewer, anchor):
        yield anchor, 0
        if records.recount.breaks(anchor, "threadgate"):
            return
        level, depth = [anchor], 0
        while level:
            depth += 1
            level = [uri for above in level for uri in below[above]
                     if uri != anchor and not sight.hides(viewer, uri) and not sight.is_blocked(author(uri), author(above))]
            yield from ((uri, depth) for uri in level)
        root = root_of(visible[anchor]) or anchor
        path = [anchor]
        while len(path) <= ABOVE:
            child, above = path[-1], parent(visible[path[-1]])
            if above not in visible or above in path or (root_of(visible[above]) or above) != root:
                return
            if sight.hides(viewer, above) or sight.is_blocked(author(above), author(child)):
                return
            path.append(above)
            yield above, 1 - len(path)

    def states(records):
        """views/index.ts, recordEmbed: detached"""
        for uri, post in records.visible(POST):
            quote = target(quoted(post))
            gate = records.recount.gate("app.bsky.feed.postgate", quote) if quote and f"/{POST}/" in quote else None
            if quote:
                rules = [rule["$type"] for rule in (gate or {}).get("embeddingRules") or []]
                is_disabled = any(rule.endswith("#disableRule") for rule in rules) and author(quote) != author(uri)
                is_detached = uri in (gate or {}).get("detachedEmbeddingUris", [])
                yield uri, "detached" if is_detached else "disabled" if is_disabled else "shown"

    pairs = "(select a.did as a, a.id as a_id, b.did as b, b.id as b_id from bsky.actors a, bsky.actors b where a.active is not null " \
            "and b.active is not null) p"
    return [
        Kind("is_blocked()", f"select a, b from {pairs} where bsky.is_blocked(a_id, b_id)", blocked),
        Kind("relationship()", "select a, b, r.following, r.followed_by, r.blocking, r.blocked_by, r.blocking_by_list, r.blocked_by_list "
             f"from {pairs}, lateral bsky.relationship(a, b) r", relationships),
        Kind("states of quotes", "select uri, quote_state from bsky.posts_view where quote_state is not null", states),
        Kind("quotes_of() a viewer", f"select v.did, s.uri, f.uri as quote from {VIEWERS} v, (select distinct quote_uri as uri from "
             "bsky.posts_view where quote_uri is not null) s, lateral bsky.quotes_of(s.uri, viewer => v.did) f", seen_quotes),
        Kind("notifications_of() a viewer", "select a.did, f.reason, f.uri, f.subject_uri from bsky.actors a, "
             "lateral bsky.notifications_of(a.did, viewer => a.did) f where f.reason <> 'unverified' and (f.reason <> 'verified' "
             "or exists (select from bsky.verifications r where (r.actor_id, r.rkey) = (f.actor_id, f.rkey)))", notifications),
        Kind("thread() for a viewer", f"select v.did, s.uri, f.uri as post, f.depth from {VIEWERS} v, bsky.posts_view s, "
             f"lateral bsky.thread(s.uri, 100, 1000, viewer => v.did, max_above => {ABOVE}) f", threads),
    ]

"""What the functions about a record or an account return, of all records and accounts of the network."""

import collections

from count_items import RULES
from items import Kind
from recount import FOLLOW, LIKE, POST, REPOST, parent, quoted, root_of, target

# The columns of post_rules, in the order of `validity`.
VALIDITY = ("threadgate", "root", "hidden", "embedding")
DEPTH = 20


def of_subjects(function, collection, view):
    """Accounts that like or reposted a record, each once."""
    def expected(records):
        for did, uri, _, subject in records.recount.firsts(collection):
            if did not in records.hidden:
                yield subject, did, uri

    return Kind(f"{function}()", "select s.uri, f.did, f.uri as record from (select distinct subject_uri as uri "
                f"from bsky.{view} where subject_uri is not null) s, lateral bsky.{function}(s.uri) f", expected)


def shown(records, *rules):
    """Visible posts that do not break these rules."""
    return [(uri, post) for uri, post in records.visible(POST)
            if not any(records.recount.breaks(uri, rule) for rule in rules)]


def replies(records):
    return [(parent(post), uri) for uri, post in shown(records, "threadgate", "root") if parent(post)]


def quotes(records):
    return [(target(quoted(post)), uri) for uri, post in shown(records, "embedding") if target(quoted(post))]


def threads(records):
    """(first post, post, depth, validity) of all threads."""
    below = collections.defaultdict(list)
    for above, uri in replies(records):
        below[above].append(uri)
    visible = dict(records.visible(POST))
    for root in {root_of(post) for post in visible.values()} - {None}:
        level, depth = [root], 0
        while level and depth <= DEPTH:
            for uri in level:
                if uri in visible:
                    broken = [RULES[rule] for rule in VALIDITY if records.recount.breaks(uri, rule)]
                    yield root, uri, depth, ", ".join(broken) or "valid"
            is_closed = depth == 0 and records.recount.breaks(root, "threadgate")
            # A post can name a post below it as its parent. The thread does not return to its first post.
            found = [reply for uri in level for reply in below[uri] if reply != root]
            level, depth = [] if is_closed else found, depth + 1


def pairs(records):
    """(account, followed account, follow) of active accounts."""
    return [(did, subject, uri) for did, uri, _, subject in records.recount.firsts(FOLLOW)
            if not records.hidden & {did, subject}]


def mutuals(records):
    follows = {(did, subject): uri for did, subject, uri in pairs(records)}
    return [(did, subject, follows[subject, did]) for did, subject in follows if (subject, did) in follows]


def of_accounts(function, expected):
    return Kind(f"{function}()", f"select a.did, f.did as other, f.uri from bsky.actors a, lateral bsky.{function}(a.did) f "
                "where a.active is not false", expected)


KINDS = [
    of_subjects("likes_of", LIKE, "likes_view"),
    of_subjects("reposts_of", REPOST, "reposts_view"),
    Kind("replies_of()", "select s.uri, f.uri as reply from (select distinct parent_uri as uri from bsky.posts_view "
         "where parent_uri is not null) s, lateral bsky.replies_of(s.uri) f", replies),
    Kind("quotes_of()", "select s.uri, f.uri as quote from (select distinct quote_uri as uri from bsky.posts_view "
         "where quote_uri is not null) s, lateral bsky.quotes_of(s.uri) f", quotes),
    Kind("thread()", "select s.uri, f.uri as post, f.depth, f.validity from (select distinct root_uri as uri "
         f"from bsky.posts_view where root_uri is not null) s, lateral bsky.thread(s.uri, {DEPTH}, 1000) f", threads),
    of_accounts("followers_of", lambda records: [(subject, did, uri) for did, subject, uri in pairs(records)]),
    of_accounts("follows_of", pairs),
    of_accounts("mutuals_of", mutuals),
]

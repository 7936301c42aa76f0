"""Counts, broken rules and notifications: the tables of the projections (TABLES), which have all accounts, and the
views that people query (VIEWS), which hide inactive accounts."""

from items import Kind, microseconds
from recount import POST, author

# By number, from 1.
REASONS = ("like", "like-via-repost", "repost", "repost-via-repost", "follow", "mention", "quote", "reply", "verified",
           "unverified", "starterpack-joined")
# The notifications of removed verifications stay, and records do not tell about them.
HISTORY = "n.collection_id = 13 and (n.reason::text in ('10', 'unverified') or not exists (select from bsky.verifications v where (v.actor_id, v.rkey) = (n.actor_id, n.rkey)))"
RULES = {"threadgate": "violates_threadgate", "embedding": "violates_embedding_rules", "hidden": "is_hidden",
         "root": "has_invalid_root"}


def broken(rule):
    return Kind(RULES[rule], f"select bsky.uri(actor_id, 1, rkey) from bsky.post_rules where {RULES[rule]}",
                lambda records: [(uri,) for uri in records.recount.broken_rules if records.recount.breaks(uri, rule)])


def notifications(reason):
    return Kind(f"notification {reason}", "select (select did from bsky.actors where id = recipient), bsky.uri(actor_id, "
                "collection_id, rkey), bsky.uri(subject_actor, subject_collection, subject_rkey) as subject, "
                f"{microseconds('sort_at')} as sort_at from bsky.notifications n where reason = {REASONS.index(reason) + 1} "
                f"and not ({HISTORY})",
                lambda records: [(recipient, uri, subject, records.sort_at(uri))
                                 for recipient, uri, why, subject in records.recount.notifications() if why == reason])


def visible_notifications(records):
    for recipient, uri, reason, subject in records.recount.notifications():
        is_hidden = (author(uri) in records.hidden or subject in records.deleted_posts
                     or reason == "verified" and author(uri) not in records.trusted)
        if not is_hidden and records.statuses.get(recipient) != "deleted":
            yield recipient, reason, author(uri), uri, subject


def references(records):
    return [(role, target, number) for (role, target), number in records.recount.references.items()]


def post_views(records):
    stats = records.recount.post_stats()
    for uri, _ in records.visible(POST):
        yield (uri, *stats.get(uri, (0, 0, 0, 0)), *(records.recount.breaks(uri, rule) for rule in RULES),
               records.sort_at(uri))


def actor_views(records):
    """The view hides the numbers of inactive accounts: they are 0."""
    stats = records.recount.actor_stats()
    return [(did, *(stats.get(did, (0, 0, 0)) if did not in records.hidden else (0, 0, 0))) for did in records.statuses]


TABLES = [
    Kind("post_stats", "select bsky.uri(actor_id, 1, rkey), likes, reposts, replies, quotes from bsky.post_stats "
         "where (likes, reposts, replies, quotes) <> (0, 0, 0, 0)",
         lambda records: [(uri, *numbers) for uri, numbers in records.recount.post_stats().items()]),
    Kind("actor_stats", "select (select did from bsky.actors where id = actor_id), followers, follows, posts "
         "from bsky.actor_stats where (followers, follows, posts) <> (0, 0, 0)",
         lambda records: [(did, *numbers) for did, numbers in records.recount.actor_stats().items()]),
    Kind("tag_trends", f"select {microseconds('hour')} as hour, tag, posts from bsky.tag_trends where posts <> 0",
         lambda records: [(*key, posts) for key, posts in records.recount.tag_trends(records.indexed_at).items()]),
    *map(broken, RULES),
    *(notifications(reason) for reason in REASONS if reason != "unverified"),
]
VIEWS = [
    Kind("posts_view", f"select uri, likes, reposts, replies, quotes, {', '.join(RULES.values())}, "
         f"{microseconds('sort_at')} as sort_at from bsky.posts_view", post_views),
    Kind("actors_view", "select did, followers, follows, posts from bsky.actors_view where active is not null",
         actor_views),
    Kind("notifications_view", "select recipient_did, reason, did, uri, subject_uri from bsky.notifications_view n "
         f"where not ({HISTORY})",
         visible_notifications),
    # The sums of the change log, which has all records.
    Kind("references", "select role, coalesce(bsky.uri(actor_id, nullif(collection_id, 0), rkey), (select did from bsky.actors "
         "where id = actor_id)), sum(delta)::int8 from skua.change_references(1, 1000000) group by role, actor_id, "
         "collection_id, rkey having sum(delta) <> 0", references),
]

"""Likes, reposts, follows, blocks, lists and gates, as the views show them. An account and a subject are one pair; the
pair's record is the first one. A list item counts only if the owner of the list made it, a gate only for a post of its
account with its key."""

from items import Kind, microseconds
from recount import BLOCK, FOLLOW, LIKE, LIST_ITEM, POST, POSTGATE, REPOST, THREADGATE, author, rule_names, target

LIST, STARTER_PACK = "app.bsky.graph.list", "app.bsky.graph.starterpack"


def subjects(table, collection):
    """Likes and reposts, with the repost that showed the subject."""
    def expected(records):
        for uri, record in records.visible(collection):
            subject, via = target(record["subject"]), target(record.get("via"), REPOST)
            yield uri, subject, subject and record["subject"]["cid"], via, via and record["via"]["cid"]

    return Kind(table, f"select uri, subject_uri, subject_cid, via_uri, via_cid from bsky.{table}_view", expected)


def accounts(table, collection):
    return Kind(table, f"select uri, subject_did from bsky.{table}_view",
                lambda records: [(uri, record["subject"]) for uri, record in records.visible(collection)])


def pairs(name, collection, subject):
    """The first record of each account and subject. A pair of two accounts needs two active ones."""
    def expected(records):
        for did, uri, _, found in records.recount.firsts(collection):
            if did not in records.hidden and found not in records.hidden:
                yield did, uri, found, records.sort_at(uri)

    return Kind(name, f"select did, uri, {subject}, {microseconds('sort_at')} from bsky.{name}", expected)


def blocked(records):
    for did, _, _, subject in records.recount.firsts(BLOCK):
        if did not in records.hidden:
            yield did, subject


def feed_reposts(records):
    """hydration/hydrator.ts: the AppView drops items whose post it does not have."""
    posts = dict(records.visible(POST))
    for did, uri, _, subject in records.recount.firsts(REPOST):
        if subject in posts and did not in records.hidden:
            yield uri, subject


def members(records):
    return [(uri, did) for uri, did in records.recount.members if author(uri) not in records.hidden]


def threadgates(records):
    for uri, gate in records.visible(THREADGATE):
        names = rule_names(gate.get("allow"))
        lists = [rule["list"] for rule in gate.get("allow") or [] if rule["$type"].endswith("#listRule")]
        yield (uri, gate["post"], "allow" in gate, "mentionRule" in names, "followingRule" in names,
               "followerRule" in names, lists or None, gate.get("hiddenReplies"))


def postgates(records):
    for uri, gate in records.visible(POSTGATE):
        names = rule_names(gate.get("embeddingRules"))
        yield uri, gate["post"], "disableRule" in names, gate.get("detachedEmbeddingUris")


def gated(collection):
    """The posts whose gate counts."""
    def expected(records):
        return [(post,) for post, _ in records.all(POST) if records.recount.gate(collection, post)]

    return expected


def gated_query(table):
    return (f"select bsky.uri(p.actor_id, 1, p.rkey) from bsky.posts p join bsky.{table} g on (g.actor_id, g.rkey) = "
            "(p.actor_id, p.rkey) and (g.post_actor, g.post_rkey) = (p.actor_id, p.rkey) where p.cid is not null")


def starter_packs(records):
    for uri, pack in records.visible(STARTER_PACK):
        feeds = pack.get("feeds")
        yield uri, target(pack["list"], LIST), None if feeds is None else [feed["uri"] for feed in feeds]


KINDS = [
    subjects("likes", LIKE),
    subjects("reposts", REPOST),
    accounts("follows", FOLLOW),
    accounts("blocks", BLOCK),
    pairs("like_pairs", LIKE, "subject_uri"),
    pairs("repost_pairs", REPOST, "subject_uri"),
    pairs("follow_pairs", FOLLOW, "subject_did"),
    Kind("blocked accounts", "select distinct did, subject_did from bsky.blocks_view", blocked),
    Kind("reposts in feeds", "select bsky.uri(actor_id, 3, rkey) as uri, bsky.uri(subject_actor, 1, subject_rkey) as "
         "subject from bsky.feed_reposts", feed_reposts),
    Kind("list items", "select uri, list_uri, subject_did from bsky.list_items_view",
         lambda records: [(uri, target(item["list"], LIST), item["subject"]) for uri, item in records.visible(LIST_ITEM)]),
    Kind("members of lists", "select distinct list_uri, subject_did from bsky.list_items_view where actor_id = list_actor",
         members),
    Kind("blocks of lists", "select uri, list_uri from bsky.list_blocks_view",
         lambda records: [(uri, block["subject"]) for uri, block in records.visible("app.bsky.graph.listblock")]),
    Kind("starter packs", "select uri, list_uri, feeds from bsky.starter_packs_view", starter_packs),
    Kind("verifications", "select uri, subject_did, verified_handle, display_name from bsky.verifications_view",
         lambda records: [(uri, record["subject"], record["handle"], record["displayName"])
                          for uri, record in records.visible("app.bsky.graph.verification")]),
    Kind("threadgates", "select uri, post_uri, is_restricted, allow_mentioned, allow_following, allow_followers, "
         "allow_lists, hidden_replies from bsky.threadgates_view", threadgates),
    Kind("postgates", "select uri, post_uri, embedding_disabled, detached_uris from bsky.postgates_view", postgates),
    Kind("posts with a threadgate", gated_query("threadgates"), gated(THREADGATE)),
    Kind("posts with a postgate", gated_query("postgates"), gated(POSTGATE)),
]

"""A thread that restricts replies: replies that one of the rules allows, and replies that none allows."""

from random_network import FOLLOW, LIST, LIST_ITEM, POST, THREADGATE, reference

MENTION = "app.bsky.richtext.facet#mention"


def restricted_thread(network, name, mentions, by_handle):
    """Returns the AT-URI of the first post, which mentions this number of accounts, the number of direct replies that gates allow, and that of all
    direct replies. A list counts with the items of its owner, and if the gate names the owner by DID, so it ignores one of the author `by_handle`,
    or else one of another account."""
    author, other, follower, followed, listed, ignored, stranger, *mentioned = (
        network.account(f"{name}{number}") for number in range(7 + mentions))

    def put(account, collection, record, rkey=None):
        return account.put(collection, {"createdAt": network.time(), **record}, rkey)[0]

    def reply(account, parent, root):
        return put(account, POST, {"text": "a reply", "reply": {"parent": reference(parent), "root": reference(root)}})

    root = put(author, POST, {"text": "the first post", "facets": [
        {"index": {"byteStart": 0, "byteEnd": 3}, "features": [{"$type": MENTION, "did": account.did}]} for account in mentioned]})
    put(follower, FOLLOW, {"subject": author.did})
    put(author, FOLLOW, {"subject": followed.did})
    own, named = (put(account, LIST, {"purpose": "app.bsky.graph.defs#curatelist", "name": "a list"})
                  for account in (author, author if by_handle else other))
    put(author, LIST_ITEM, {"list": own, "subject": listed.did})
    put(author, LIST_ITEM, {"list": named, "subject": ignored.did})
    lists = (own, named.replace(author.did, f"{name}0.test") if by_handle else named)
    put(author, THREADGATE, {"post": root, "allow": [
        *({"$type": f"{THREADGATE}#{rule}"} for rule in ("mentionRule", "followerRule", "followingRule")),
        *({"$type": f"{THREADGATE}#listRule", "list": uri} for uri in lists)]}, root.split("/")[-1])
    # A gate that restricts nothing, and one that allows no reply.
    open_root, closed_root = (put(other, POST, {"text": "another thread"}) for _ in range(2))
    put(other, THREADGATE, {"post": open_root}, open_root.split("/")[-1])
    put(other, THREADGATE, {"post": closed_root, "allow": []}, closed_root.split("/")[-1])

    allowed = [author, follower, followed, listed, *mentioned]
    for account in (*allowed, ignored, stranger):
        reply(account, root, root)
    # The gate of the thread that a reply states counts.
    reply(stranger, root, open_root)
    reply(other, root, closed_root)
    reply(follower, root, closed_root)
    return root, len(allowed) + 2, len(allowed) + 5

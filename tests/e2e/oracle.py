"""The expected content of the tables, derived from a record's JSON alone.

`expected_row` returns the table and the columns of one record. Accounts and record keys are DIDs and numbers in it, so
that two databases with different ids compare equal. `table_rows` reads a table in the same form.
"""

import atproto

TABLES = {
    "app.bsky.feed.post": "posts",
    "app.bsky.feed.like": "likes",
    "app.bsky.feed.repost": "reposts",
    "app.bsky.feed.threadgate": "threadgates",
    "app.bsky.feed.postgate": "postgates",
    "app.bsky.feed.generator": "feed_generators",
    "app.bsky.graph.follow": "follows",
    "app.bsky.graph.block": "blocks",
    "app.bsky.graph.list": "lists",
    "app.bsky.graph.listitem": "list_items",
    "app.bsky.graph.listblock": "list_blocks",
    "app.bsky.graph.starterpack": "starter_packs",
    "app.bsky.graph.verification": "verifications",
    "app.bsky.actor.profile": "profiles",
    "app.bsky.actor.status": "statuses",
    "chat.bsky.actor.declaration": "chat_declarations",
    "app.bsky.notification.declaration": "notification_declarations",
    "com.germnetwork.declaration": "germ_declarations",
    "app.bsky.labeler.service": "labelers",
}
SINGLETONS = {
    "app.bsky.actor.profile", "app.bsky.actor.status", "chat.bsky.actor.declaration",
    "app.bsky.notification.declaration", "com.germnetwork.declaration", "app.bsky.labeler.service",
}
WITHOUT_CREATED_AT = {
    "app.bsky.actor.profile", "chat.bsky.actor.declaration", "app.bsky.notification.declaration",
    "com.germnetwork.declaration",
}
POST, REPOST, LIST = "app.bsky.feed.post", "app.bsky.feed.repost", "app.bsky.graph.list"
STARTER_PACK = "app.bsky.graph.starterpack"


def without_nul(value):
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    return value


def digest_hex(cid):
    """The digest of a CID in text, in hex, as the tables store it."""
    data = atproto.cid_bytes(cid) if cid else None
    return data[4:].hex() if data else None


def _reference(columns, extra, name, key, raw, expected=None, cid=True, collection=False):
    """Fills <name>_actor and so on from a strongRef or a URI; an invalid reference goes to extra."""
    uri = raw["uri"] if isinstance(raw, dict) else raw
    parts = atproto.parse_at_uri(uri) if uri else None
    if parts and expected and parts[1] != expected:
        parts = None
    columns[name + "_actor"] = parts[0] if parts else None
    columns[name + "_rkey"] = atproto.rkey_number(parts[2]) if parts else None
    if collection:
        columns[name + "_collection"] = parts[1] if parts else None
    if cid:
        columns[name + "_cid"] = digest_hex(raw["cid"]) if parts else None
    if raw is not None and not parts:
        extra[key] = raw


def _labels(record):
    labels = record.get("labels")
    return [label["val"] for label in labels["values"]] if labels else None


def _blob(record, key):
    blob = record.get(key)
    return blob["ref"]["$link"] if blob else None


def _quoted(embed):
    if not embed:
        return None
    if embed["$type"] == "app.bsky.embed.record":
        return embed["record"]
    if embed["$type"] == "app.bsky.embed.recordWithMedia":
        return embed["record"]["record"]
    return None


def _post(record, columns, extra):
    for name in ("text", "langs", "tags", "facets", "embed"):
        columns[name] = record.get(name)
    columns["labels"] = _labels(record)
    reply = record.get("reply") or {}
    _reference(columns, extra, "parent", "reply", reply.get("parent"), POST)
    _reference(columns, extra, "root", "reply", reply.get("root"), POST)
    _reference(columns, {}, "quote", "embed", _quoted(record.get("embed")), collection=True)
    columns["is_deleted"] = False
    return {"text", "langs", "tags", "facets", "embed", "labels", "reply"}


def _like(record, columns, extra):
    _reference(columns, extra, "subject", "subject", record["subject"], collection=True)
    _reference(columns, extra, "via", "via", record.get("via"), REPOST)
    return {"subject", "via"}


def _threadgate(record, columns, extra):
    _reference(columns, extra, "post", "post", record["post"], POST, cid=False)
    allow = record.get("allow")
    rules = [rule["$type"].split("#")[1] for rule in allow or []]
    columns["is_restricted"] = allow is not None
    columns["allow_mentioned"] = "mentionRule" in rules
    columns["allow_following"] = "followingRule" in rules
    columns["allow_followers"] = "followerRule" in rules
    lists = [rule["list"] for rule in allow or [] if rule["$type"].endswith("#listRule")]
    columns["allow_lists"] = lists or None
    columns["hidden_replies"] = record.get("hiddenReplies")
    return {"post", "allow", "hiddenReplies"}


def _postgate(record, columns, extra):
    _reference(columns, extra, "post", "post", record["post"], POST, cid=False)
    rules = record.get("embeddingRules") or []
    columns["embedding_disabled"] = any(rule["$type"].endswith("#disableRule") for rule in rules)
    columns["detached_uris"] = record.get("detachedEmbeddingUris")
    return {"post", "embeddingRules", "detachedEmbeddingUris"}


def _described(record, columns):
    columns["description"] = record.get("description")
    columns["description_facets"] = record.get("descriptionFacets")
    return {"description", "descriptionFacets"}


def _generator(record, columns, extra):
    columns["service_did"] = record["did"]
    columns["display_name"] = record["displayName"]
    columns["avatar_cid"] = _blob(record, "avatar")
    columns["accepts_interactions"] = record.get("acceptsInteractions")
    columns["content_mode"] = record.get("contentMode")
    columns["labels"] = _labels(record)
    own = {"did", "displayName", "avatar", "acceptsInteractions", "contentMode", "labels"}
    return own | _described(record, columns)


def _follow(record, columns, extra):
    columns["subject_actor"] = record["subject"]
    _reference(columns, extra, "via", "via", record.get("via"), collection=True)
    return {"subject", "via"}


def _block(record, columns, extra):
    columns["subject_actor"] = record["subject"]
    return {"subject"}


def _list(record, columns, extra):
    columns["purpose"] = record["purpose"]
    columns["name"] = record["name"]
    columns["avatar_cid"] = _blob(record, "avatar")
    columns["labels"] = _labels(record)
    return {"purpose", "name", "avatar", "labels"} | _described(record, columns)


def _list_item(record, columns, extra):
    columns["subject_actor"] = record["subject"]
    _reference(columns, extra, "list", "list", record["list"], LIST, cid=False)
    return {"subject", "list"}


def _list_block(record, columns, extra):
    _reference(columns, extra, "list", "subject", record["subject"], LIST, cid=False)
    return {"subject"}


def _starter_pack(record, columns, extra):
    columns["name"] = record["name"]
    _reference(columns, extra, "list", "list", record["list"], LIST, cid=False)
    feeds = record.get("feeds")
    columns["feeds"] = [feed["uri"] for feed in feeds] if feeds is not None else None
    return {"name", "list", "feeds"} | _described(record, columns)


def _verification(record, columns, extra):
    columns["subject_actor"] = record["subject"]
    columns["handle"] = record["handle"]
    columns["display_name"] = record["displayName"]
    return {"subject", "handle", "displayName"}


def _profile(record, columns, extra):
    columns["display_name"] = record.get("displayName")
    for name in ("description", "pronouns", "website"):
        columns[name] = record.get(name)
    columns["avatar_cid"] = _blob(record, "avatar")
    columns["banner_cid"] = _blob(record, "banner")
    columns["labels"] = _labels(record)
    _reference(columns, extra, "pinned", "pinnedPost", record.get("pinnedPost"), POST)
    joined = record.get("joinedViaStarterPack")
    _reference(columns, extra, "joined_via", "joinedViaStarterPack", joined, STARTER_PACK)
    return {"displayName", "description", "pronouns", "website", "avatar", "banner", "labels",
            "pinnedPost", "joinedViaStarterPack"}


def _status(record, columns, extra):
    columns["status"] = record["status"]
    columns["embed"] = record.get("embed")
    columns["duration_minutes"] = record.get("durationMinutes")
    return {"status", "embed", "durationMinutes"}


def _chat_declaration(record, columns, extra):
    columns["allow_incoming"] = record["allowIncoming"]
    return {"allowIncoming"}


def _notification_declaration(record, columns, extra):
    columns["allow_subscriptions"] = record["allowSubscriptions"]
    return {"allowSubscriptions"}


def _germ_declaration(record, columns, extra):
    columns["version"] = record["version"]
    key = record["currentKey"]["$bytes"]
    columns["current_key"] = atproto.base64.b64decode(key + "=" * (-len(key) % 4)).hex()
    return {"version", "currentKey"}


def _labeler(record, columns, extra):
    columns["policies"] = record["policies"]
    columns["labels"] = _labels(record)
    columns["reason_types"] = record.get("reasonTypes")
    columns["subject_types"] = record.get("subjectTypes")
    columns["subject_collections"] = record.get("subjectCollections")
    return {"policies", "labels", "reasonTypes", "subjectTypes", "subjectCollections"}


COLUMNS = {
    "posts": _post, "likes": _like, "reposts": _like, "threadgates": _threadgate,
    "postgates": _postgate, "feed_generators": _generator, "follows": _follow, "blocks": _block,
    "lists": _list, "list_items": _list_item, "list_blocks": _list_block,
    "starter_packs": _starter_pack, "verifications": _verification, "profiles": _profile,
    "statuses": _status, "chat_declarations": _chat_declaration,
    "notification_declarations": _notification_declaration, "germ_declarations": _germ_declaration,
    "labelers": _labeler,
}


def is_invalid(collection, rkey, record):
    """Whether a record violates its lexicon in one of the ways that occur in the test data."""
    if collection not in TABLES:
        return False
    if collection in SINGLETONS and rkey != "self":
        return True
    if record.get("$type", collection) != collection:
        return True
    created = record.get("createdAt")
    if created is None and collection not in WITHOUT_CREATED_AT:
        return True
    if created is not None and (not isinstance(created, str) or atproto.datetime_microseconds(created) is None):
        return True
    if collection in ("app.bsky.feed.like", "app.bsky.feed.repost"):
        return not record["subject"]["uri"].startswith("at://")
    if collection in ("app.bsky.graph.follow", "app.bsky.graph.block", "app.bsky.graph.listitem",
                      "app.bsky.graph.verification"):
        return not record["subject"].startswith("did:")
    if collection == "app.bsky.graph.listblock":
        return not record["subject"].startswith("at://")
    if collection == "app.bsky.actor.profile":
        return not isinstance(record.get("pinnedPost", {}), dict)
    return collection == "app.bsky.feed.post" and not isinstance(record["text"], str)


def expected_row(did, path, cid, record):
    """(table, key, columns) of a current record. `record` is its JSON."""
    collection, rkey = path.split("/", 1)
    record = without_nul(record)
    number = atproto.rkey_number(rkey)
    columns = {"cid": bytes(cid)[4:].hex()}
    invalid = is_invalid(collection, rkey, record)
    if invalid or collection not in TABLES:
        columns.update(collection_id=collection, record=record)
        return "records", (did, collection, number), columns, invalid
    created = record.get("createdAt")
    columns["created_at"], exact = atproto.datetime_microseconds(created) if created else (None, True)
    extra = {} if exact else {"createdAt": created}
    table = TABLES[collection]
    taken = COLUMNS[table](record, columns, extra)
    extra.update({key: record[key] for key in record.keys() - taken - {"$type", "createdAt"}})
    columns["extra"] = extra or None
    return table, (did, number), columns, False


class Tables:
    """The record tables of a database, read in the oracle's form."""

    def __init__(self, database):
        self.database = database
        self.dids = {row["id"]: row["did"] for row in database.rows("select id, did from bsky.actors")}
        rows = database.rows("select id, nsid from bsky.collections")
        self.collections = {row["id"]: row["nsid"] for row in rows}

    def columns(self, table):
        return {
            row["column_name"]: row["data_type"]
            for row in self.database.rows(
                "select column_name, data_type from information_schema.columns "
                f"where table_schema = 'bsky' and table_name = '{table}' order by ordinal_position"
            )
        }

    def rows(self, table, where="true"):
        """{key: columns} of a table: times in microseconds, bytes in hex, accounts as DIDs."""
        kinds = self.columns(table)
        parts = []
        for name, kind in kinds.items():
            if kind.startswith("timestamp"):
                parts.append(f"(extract(epoch from {name}) * 1000000)::int8 as {name}")
            elif kind == "bytea":
                parts.append(f"encode({name}, 'hex') as {name}")
            else:
                parts.append(name)
        result = {}
        for row in self.database.rows(f"select {', '.join(parts)} from bsky.{table} where {where}"):
            for name in kinds:
                if name.endswith("_actor") or name == "actor_id":
                    row[name] = self.dids.get(row[name])
                elif name.endswith("_collection") or name == "collection_id":
                    row[name] = self.collections.get(row[name])
            key = (row["actor_id"], row["rkey"])
            if table == "records":
                key = (row["actor_id"], row["collection_id"], row["rkey"])
            result[key] = row
        return result

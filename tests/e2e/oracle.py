"""The expected content of the tables, derived from a record's JSON and from the columns of the tables.

A column has the value of the field of the same name. Columns and fields that have other names, and columns that several
fields determine, have a function of their own. Tables and columns come from the database: a comment names the
collection of each table. `Tables.expected` returns the table and the columns of one record. Accounts and record keys
are DIDs and numbers in it, so that two databases with different ids compare equal. `Tables.rows` reads a table in the
same form.
"""

import json
import pathlib
import re

import atproto
import limits
import post_content

RECORDS = pathlib.Path(__file__).resolve().parents[2] / "libs/foundation/records"
# 0001-01-02 and 9999-12-30, in microseconds: earlier and later times are stored as these.
FIRST_TIME, LAST_TIME = -62135510400000000, 253402128000000000
WITHOUT_CREATED_AT = {
    "app.bsky.actor.profile", "chat.bsky.actor.declaration", "app.bsky.notification.declaration",
    "com.germnetwork.declaration", "app.bsky.actor.contentVisibilityDeclaration",
}
POST, REPOST, LIST = "app.bsky.feed.post", "app.bsky.feed.repost", "app.bsky.graph.list"
STARTER_PACK = "app.bsky.graph.starterpack"
# The CIDs of references that a row does not have if the row of the post has them.
REFERENCE_CIDS = {"subject_cid", "parent_cid", "root_cid", "quote_cid", "pinned_cid"}
# The collection of a reference that has no column for it.
TARGETS = {"parent": POST, "root": POST, "post": POST, "pinned": POST, "via": REPOST, "list": LIST,
           "joined_via": STARTER_PACK}
COMMON = {"actor_id", "rkey", "rev", "cid", "created_at", "indexed_at", "extra"}


def declared(text):
    """The collections of the structs whose declarations contain a text."""
    texts = "".join(header.read_text() for header in RECORDS.glob("*.hpp"))
    structs = re.split(r"^(?=struct )", texts, flags=re.MULTILINE)
    found = {re.search(r'kCollection = "(.*?)"', struct) for struct in structs if text in struct}
    return {match.group(1) for match in found if match}


# The collections that have a table, and those whose records have the key `self`.
WITH_TABLE = declared("kCollection")
SINGLETONS = declared("kSingleton = true")


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


def _fill_reference(columns, name, raw, target, names):
    """Fills <name>_actor and so on from a strongRef or a URI. Returns whether it is a valid reference. `target`: the
    only collection that it may refer to; None: any."""
    uri = raw["uri"] if isinstance(raw, dict) else raw
    parts = atproto.parse_at_uri(uri) if uri else None
    if parts and target and parts[1] != target:
        parts = None
    columns[name + "_actor"] = parts[0] if parts else None
    columns[name + "_rkey"] = atproto.rkey_number(parts[2]) if parts else None
    if name + "_collection" in names:
        columns[name + "_collection"] = parts[1] if parts else None
    if name + "_cid" in names:
        columns[name + "_cid"] = digest_hex(raw["cid"]) if parts else None
    return parts is not None


def _quoted(embed):
    if not embed:
        return None
    if embed["$type"] == "app.bsky.embed.record":
        return embed["record"]
    if embed["$type"] == "app.bsky.embed.recordWithMedia":
        return embed["record"]["record"]
    return None


# Columns that are not the field of their name: functions of a record that return the value, and the field.


def _rules(record):
    return [rule["$type"].split("#")[1] for rule in record.get("allow") or []]


def _is_allowed(rule):
    return lambda record: (rule in _rules(record), "allow")


def _lists(record):
    lists = [rule["list"] for rule in record.get("allow") or [] if rule["$type"].endswith("#listRule")]
    return lists or None, "allow"


def _embedding_disabled(record):
    rules = record.get("embeddingRules") or []
    return any(rule["$type"].endswith("#disableRule") for rule in rules), "embeddingRules"


def _feeds(record):
    feeds = record.get("feeds")
    return [feed["uri"] for feed in feeds] if feeds is not None else None, "feeds"


OTHER_VALUES = {
    **{("posts", name): lambda record, value=value: (value(record), None) for name, value in post_content.COLUMNS.items()},
    ("posts", "is_deleted"): lambda record: (False, None),
    ("posts", "langs"): lambda record: (None if record.get("langs") is None else " ".join(record["langs"]), "langs"),
    ("posts", "parent"): lambda record: ((record.get("reply") or {}).get("parent"), "reply"),
    ("posts", "root"): lambda record: ((record.get("reply") or {}).get("root"), "reply"),
    ("posts", "quote"): lambda record: (_quoted(record.get("embed")), None),
    ("threadgates", "is_restricted"): lambda record: (record.get("allow") is not None, "allow"),
    ("threadgates", "allow_mentioned"): _is_allowed("mentionRule"),
    ("threadgates", "allow_following"): _is_allowed("followingRule"),
    ("threadgates", "allow_followers"): _is_allowed("followerRule"),
    ("threadgates", "allow_lists"): _lists,
    ("postgates", "embedding_disabled"): _embedding_disabled,
    ("postgates", "detached_uris"): lambda record: (record.get("detachedEmbeddingUris"), "detachedEmbeddingUris"),
    ("feed_generators", "service_did"): lambda record: (record["did"], "did"),
    ("list_blocks", "list"): lambda record: (record["subject"], "subject"),
    ("starter_packs", "feeds"): _feeds,
    ("profiles", "pinned"): lambda record: (record.get("pinnedPost"), "pinnedPost"),
    ("profiles", "joined_via"): lambda record: (record.get("joinedViaStarterPack"), "joinedViaStarterPack"),
}


def _value(table, name, record):
    """The value of a column or reference, and the field that it takes from `extra`; no field: None."""
    if (table, name) in OTHER_VALUES:
        return OTHER_VALUES[table, name](record)
    field = re.sub(r"_(.)", lambda match: match.group(1).upper(), name.removesuffix("_cid"))
    value = record.get(field)
    if value is None:
        return None, field
    if name == "labels":
        value = [label["val"] for label in value["values"]]
    elif name.endswith("_cid"):
        value = value["ref"]["$link"]
    elif isinstance(value, dict) and value.keys() == {"$bytes"}:
        text = value["$bytes"]
        value = atproto.base64.b64decode(text + "=" * (-len(text) % 4)).hex()
    return value, field


def fill(table, names, record, columns, extra):
    """Fills the columns that not all tables have. Adds invalid references to `extra`. Returns the fields that have a
    column."""
    references = {name.removesuffix("_actor") for name in names if name.endswith("_actor")}
    parts = {reference + part for reference in references for part in ("_actor", "_rkey", "_collection", "_cid")}
    taken = set()
    for reference in sorted(references):
        value, field = _value(table, reference, record)
        taken.add(field)
        if reference + "_rkey" not in names:
            columns[reference + "_actor"] = value
            continue
        target = None if reference + "_collection" in names else TARGETS[reference]
        is_valid = _fill_reference(columns, reference, value, target, names)
        if value is not None and field and not is_valid:
            extra[field] = record[field]
    for name in sorted(names - parts):
        columns[name], field = _value(table, name, record)
        taken.add(field)
    return taken


def is_invalid(collection, rkey, record):
    """Whether a record of a collection with a table violates its lexicon in one of the ways that occur in the test
    data."""
    if collection in SINGLETONS and rkey != "self":
        return True
    if record.get("$type", collection) != collection:
        return True
    created = record.get("createdAt")
    if created is None and collection not in WITHOUT_CREATED_AT:
        return True
    if created is not None and (not isinstance(created, str) or atproto.datetime_microseconds(created) is None):
        return True
    return _has_bad_field(collection, record) or limits.exceeded(collection, record)


def _has_bad_field(collection, record):
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


def inexact_fields(collection, record):
    """The fields, and the members with `$`, that stay in `extra` because their columns do not tell the exact value."""
    extra = {} if "$type" in record else {"$type": None}
    created = record.get("createdAt")
    micros = atproto.datetime_microseconds(created)[0] if created else 0
    if created is not None and (micros != stored_time(micros) or not atproto.is_usual_datetime(created)):
        extra["createdAt"] = created
    for key in ("avatar", "banner"):
        if key in record and "ref" in record[key]:
            extra["$" + key] = {"mimeType": record[key]["mimeType"], "size": record[key]["size"]}
    for key in ("subject", "via", "reply", "pinnedPost", "joinedViaStarterPack"):
        if '"$type"' in json.dumps(record.get(key)):
            extra[key] = record[key]
    if collection == "app.bsky.feed.postgate" and len(record.get("embeddingRules", [0])) != 1:
        extra["embeddingRules"] = record["embeddingRules"]
    if collection == "app.bsky.feed.threadgate" and "allow" in record:
        places = [RULES.index(rule["$type"].split("#")[1]) for rule in record["allow"]]
        if places != sorted(places) or any(places.count(place) > 1 for place in range(3)):
            extra["allow"] = record["allow"]
    return extra


RULES = ("mentionRule", "followingRule", "followerRule", "listRule")


def stored_time(microseconds):
    return min(max(microseconds, FIRST_TIME), LAST_TIME)


class Tables:
    """The record tables of a database, read in the oracle's form."""

    def __init__(self, database):
        self.database = database
        self.dids = {row["id"]: row["did"] for row in database.rows("select id, did from bsky.actors")}
        rows = database.rows("select id, nsid from bsky.collections")
        self.collections = {row["id"]: row["nsid"] for row in rows}
        rows = database.rows("select c.nsid, t.relname from bsky.collections c join pg_class t on "
                             "t.relnamespace = 'bsky'::regnamespace and t.relkind = 'r' and "
                             "strpos(obj_description(t.oid), ': the records of ' || c.nsid || '.') > 0")
        self.of_collection = {row["nsid"]: row["relname"] for row in rows}
        self.names = [*self.of_collection.values(), "records"]
        self.own_columns = {table: set(self.columns(table)) - COMMON - {"first_cid"} for table in self.names}

    def expected(self, did, path, cid, record):
        """(table, key, columns, whether it is invalid) of a current record. `record` is its JSON."""
        collection, rkey = path.split("/", 1)
        record = without_nul(record)
        number = atproto.rkey_number(rkey)
        columns = {"cid": bytes(cid)[4:].hex()}
        table = self.of_collection.get(collection)
        invalid = table is not None and is_invalid(collection, rkey, record)
        if invalid or table is None:
            columns.update(collection_id=collection, record=record)
            return "records", (did, collection, number), columns, invalid
        created = record.get("createdAt")
        columns["created_at"] = stored_time(atproto.datetime_microseconds(created)[0]) if created else None
        extra = inexact_fields(collection, record)
        taken = fill(table, self.own_columns[table], record, columns, extra)
        extra.update({key: record[key] for key in record.keys() - taken - {"$type", "createdAt"}})
        columns["extra"] = extra or None
        return table, (did, number), columns, False

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
        # It depends on the order in which the references and the versions of a post came.
        kinds.pop("first_cid", None)
        parts = []
        for name, kind in kinds.items():
            if kind.startswith("timestamp"):
                parts.append(f"(extract(epoch from {name}) * 1000000)::int8 as {name}")
            elif name in REFERENCE_CIDS:
                stem = name.removesuffix("_cid")
                parts.append(
                    f"encode(coalesce({name}, (select coalesce(p.first_cid, p.cid) from bsky.posts p where p.actor_id = "
                    f"{table}.{stem}_actor and p.rkey = {table}.{stem}_rkey)), 'hex') as {name}")
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
                elif name == "mentions" and row[name] is not None:
                    row[name] = [self.dids.get(actor) for actor in row[name]]
            # The blocks of records that JSON cannot hold. tests/e2e/test_record_json.py checks them.
            row.pop("block", None)
            if row.get("extra"):
                row["extra"].pop("$cbor", None)
                row["extra"] = row["extra"] or None
            key = (row["actor_id"], row["rkey"])
            if table == "records":
                key = (row["actor_id"], row["collection_id"], row["rkey"])
            result[key] = row
        return result

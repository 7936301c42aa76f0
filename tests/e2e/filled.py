"""Rows for every table of records, made by SQL: enough of them for the planner to prefer an index to a whole table.

Row number n belongs to account 1 + n % accounts. It refers to some of the first `KNOWN` posts, a different one for
each of its references. These posts are no replies; the other posts reply to them. The columns come from the catalog, so
that a new table is filled as well.
"""

ACCOUNT = "did:plc:z72i7hdynmk6r22z27h6tvur"
HANDLE = "bsky.app"
LABELER = "did:plc:ar7c4by46qjdydhdevvrndac"
FIRST_POST = "3l6oveex3ii2l"
KNOWN = 100

# By column; for other columns that may not be null, by type. All other columns stay null.
VALUES = {
    "actor_id": "1 + n % {accounts}",
    "rkey": "{key}",
    "collection_id": "1000 + n % 2",
    "created_at": "now() - n * interval '1 minute'",
    "indexed_at": "now() - n * interval '1 minute'",
    "text": "'text ' || n",
    "langs": "case n % 3 when 0 then 'de' else 'en' end",
    # Some posts have no facet, like most posts on the network.
    "facets": """case n % 4 when 0 then jsonb_build_array(jsonb_build_object('index', jsonb_build_object('byteStart', 0,
      'byteEnd', 4), 'features', jsonb_build_array(case n / 4 % 100
        when 0 then '{{"$type": "app.bsky.richtext.facet#tag", "tag": "art"}}'
        when 1 then '{{"$type": "app.bsky.richtext.facet#link", "uri": "https://bsky.social/about"}}'
        when 2 then '{{"$type": "app.bsky.richtext.facet#mention", "did": "{account}"}}'
        else jsonb_build_object('$type', 'app.bsky.richtext.facet#tag', 'tag', 'tag' || n % 1000) end))) end""",
    "mentions": "case when n % 4 = 0 and n / 4 % 100 = 2 then array[1] end",
    "all_tags": "case when n % 4 = 0 then case n / 4 % 100 when 0 then array['art'] when 1 then null when 2 then null "
                "else array['tag' || n % 1000] end end",
    "links": "case when n % 4 = 0 and n / 4 % 100 = 1 then array['https://bsky.social/about'] end",
    "link_hosts": "case when n % 4 = 0 and n / 4 % 100 = 1 then array['bsky.social'] end",
    "images_without_alt": "case n % 5 when 0 then n % 3 end",
    "has_video": "case n % 50 when 1 then true end",
    "embed": """case n % 5 when 0 then '{{"images": [{{"alt": "", "image": {{}}}}]}}'::jsonb end""",
    "invalid_reason": "case when n % 10 = 0 then 'text: missing' end",
    "val": "case n % 100 when 0 then 'spam' else 'value' || n end",
}
# Also by table. The author of a list adds accounts to it.
PARENT = f"case when n >= {KNOWN} then %s end"
VALUES_OF_TABLE = {
    ("list_items", "list_actor"): "1 + n % {accounts}",
    ("list_items", "list_rkey"): "{key}",
    **{("posts", f"{name}_actor"): PARENT % f"1 + n % {KNOWN} % {{accounts}}" for name in ("parent", "root")},
    **{("posts", f"{name}_rkey"): PARENT % f"{{first}} + n % {KNOWN} * {{step}}" for name in ("parent", "root")},
}
# Account 8, which account 1 follows, follows it too. Accounts that like a post also like another one.
RELATIONS = """
update bsky.follows f set subject_actor = 1 where actor_id = 8
  and rkey = (select max(rkey) from bsky.follows where actor_id = 8);
update bsky.likes l set subject_actor = 2, subject_rkey = {first} + {step} where rkey in (
  select max(k.rkey) from bsky.likes k where k.subject_actor = 1 and k.subject_rkey = {first} group by k.actor_id)
  and exists (select from bsky.likes k where k.actor_id = l.actor_id and k.rkey < l.rkey
              and (k.subject_actor, k.subject_rkey) = (l.subject_actor, l.subject_rkey));
"""
TYPES = {
    "int4": "n", "int8": "n", "timestamptz": "now()", "bytea": "sha256(int8send(n))", "bool": "false",
    "text": "'text'", "jsonb": "'{{}}'",
}


def _value(column, table):
    name, reference = column["name"], column["name"].rpartition("_")
    if (table, name) in VALUES_OF_TABLE:
        return VALUES_OF_TABLE[table, name]
    if name in VALUES:
        return VALUES[name]
    if reference[0] and reference[2] in ("actor", "rkey", "collection"):
        post = f"(n + {len(reference[0])}) % {KNOWN}"
        value = {"actor": f"1 + {post} % {{accounts}}", "rkey": f"{{first}} + {post} * {{step}}", "collection": "1"}
        # A third of the labels concern accounts.
        of_account = table == "labels" and reference[2] != "actor"
        return f"sign(n % 3)::int4 * ({value[reference[2]]})" if of_account else value[reference[2]]
    return TYPES[column["type"]] if column["required"] else None


def fill(database, rows=10_000, accounts=500, known=20_000, only=()):
    """Fills an empty, migrated database in which `known` accounts are known; with `only` just these tables."""
    first, step = f"bsky.tid_number('{FIRST_POST}')", "1024::int8 * 1000000"
    names = {"accounts": accounts, "account": ACCOUNT, "first": first, "step": step, "key": f"{first} + n * {step}"}
    database.run(
        f"insert into bsky.actors (did, handle, active, indexed_at) select case n when 1 then '{ACCOUNT}' "
        f"when 2 then '{LABELER}' else 'did:web:n' || n || '.test' end, "
        f"case n when 1 then '{HANDLE}' else 'n' || n || '.test' end, true, now() "
        f"from generate_series(1, {known}) n; "
        "insert into bsky.collections (nsid) values ('com.example.one'), ('com.example.two')")
    tables = database.rows(
        "select c.relname as name, json_agg(json_build_object('name', a.attname, 'type', t.typname, "
        "'required', a.attnotnull and not a.atthasdef)) as columns "
        "from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped "
        "join pg_type t on t.oid = a.atttypid where c.relnamespace = 'bsky'::regnamespace and c.relkind = 'r' "
        "and c.relname not in ('actors', 'collections', 'rkeys') group by 1")
    tables = [table for table in tables if not only or table["name"] in only]
    statements = []
    for table in tables:
        values = {column["name"]: _value(column, table["name"]) for column in table["columns"]}
        values = {name: value.format(**names) for name, value in values.items() if value}
        # A post exists as soon as it has a CID.
        values.setdefault("cid", TYPES["bytea"])
        statements.append(f"insert into bsky.{table['name']} ({', '.join(values)}) select {', '.join(values.values())} "
                          f"from generate_series(0::int8, {rows} - 1) n on conflict do nothing;")
    database.run("\n".join([*statements, RELATIONS.format(**names), "vacuum analyze"]))
    return [table["name"] for table in tables]

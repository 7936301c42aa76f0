"""Two databases to which the same accounts came in different ways: what differs, by DID and URI.

Left out is what each has for itself: its ids, when it indexed what, and at which revision it saw it last. The views'
handles are those of bsky.actors: `handles` gives them.
"""

import collections

import oracle

OWN_IN_TABLES = {"rev", "indexed_at"}
# sort_at is the earlier of two times, one of which is indexed_at. Keys are compared as URIs.
OWN_IN_VIEWS = r"^(rev|indexed_at|sort_at|collection_id|.+_collection|(.*_)?(handle|actor|actor_id|rkey))$"
# It is in the record, which speaks of another account.
SAID_HANDLE = "verified_handle"
POST = "app.bsky.feed.post"
TO_POSTS = ("parent", "root", "post", "pinned")


class Content:
    """All record tables of a database, in the oracle's form: DIDs and numbers of keys instead of ids."""

    def __init__(self, database):
        self.database = database
        tables = oracle.Tables(database)
        rows = {table: tables.rows(table) for table in [*oracle.TABLES.values(), "records"]}
        self.stubs = {key for key, row in rows["posts"].items() if row["cid"] is None}
        self.deleted = {key for key, row in rows["posts"].items() if row["is_deleted"]}
        self.current = {table: {key: row for key, row in rows[table].items() if row["cid"]} for table in rows}

    def posts_without_content(self):
        """Those that need a stub: others refer to them and they are not there, or they break their lexicon."""
        needed = set()
        for rows in self.current.values():
            for row in rows.values():
                needed.update(_posts_referred_to(row))
        needed.update((did, rkey) for did, collection, rkey in self.current["records"] if collection == POST)
        return needed - self.current["posts"].keys()

    def shown(self, dids):
        """The rows of some accounts as the views of records show them, counted: each view's name and JSON without
        what is the database's own."""
        among = ", ".join(f"'{did}'" for did in dids)
        views = self.database.run("select relname from pg_class where relkind = 'v' and relname <> 'actors_view' "
                                  "and relnamespace = 'bsky'::regnamespace").split()
        text = self.database.run(" union all ".join(
            f"select '{view} ' || (select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(v)) "
            f"where key = '{SAID_HANDLE}' or key !~ '{OWN_IN_VIEWS}')::text from bsky.{view} v where did in ({among})"
            for view in views))
        # A text may hold line breaks of other kinds.
        return collections.Counter(line for line in text.split("\n") if line)


def _posts_referred_to(row):
    for column, rkey in row.items():
        name = column.removesuffix("_rkey")
        if column == name or rkey is None:
            continue
        if name in TO_POSTS or row.get(name + "_collection") == POST:
            yield row[name + "_actor"], rkey


class Comparison:
    """`dids`: whose rows are compared in the tables. `shown`: whose in the views, which leave out who is not active.
    `rows`: how many of `one` were compared, by table and view."""

    def __init__(self, one, other, dids, shown):
        self.differences, self.rows = [], collections.Counter()
        for table in one.current:
            self._compare_table(table, *(self._rows(content, table, dids) for content in (one, other)))
        self._compare_views(one.shown(shown), other.shown(shown))

    @staticmethod
    def _rows(content, table, dids):
        return {key: {name: value for name, value in row.items() if name not in OWN_IN_TABLES}
                for key, row in content.current[table].items() if key[0] in dids}

    def _compare_table(self, table, one, other):
        self.rows[table] = len(one)
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                self.differences.append(f"{table} {key}: {one.get(key)} here, {other.get(key)} there")

    def _compare_views(self, one, other):
        for row, count in one.items():
            self.rows[row.split(" ", 1)[0]] += count
        self.differences += [f"{row} only here" for row in sorted((one - other).elements())]
        self.differences += [f"{row} only there" for row in sorted((other - one).elements())]


def handles(database):
    """{DID: (claimed, held)} of the accounts that claim one. Nobody holds what several claim: who has it in the end
    is found out by looking it up."""
    return {row["did"]: (row["handle_claim"], row["held"]) for row in database.rows(
        "select did, handle_claim, case when count(*) over (partition by handle_claim) = 1 then handle end held "
        "from bsky.actors where handle_claim is not null")}

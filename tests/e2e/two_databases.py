"""Compares two databases that received the same accounts in different ways, by DID and URI.

It ignores the values that belong to one database: ids, times of indexing, and the revision at which a row was last
seen. The handles and the names of accounts in views come from bsky.actors: `handles` returns them.
"""

import collections

import oracle

OWN_IN_TABLES = {"rev", "indexed_at"}
# sort_at is the earlier of two times, and one of them is indexed_at. Keys are compared as URIs.
OWN_IN_VIEWS = (r"^(rev|mentions|indexed_at|sort_at|collection_id|.+_collection|(author_|subject_|recipient_)?name|"
                r"(.*_)?(handle|actor|actor_id|rkey))$")
# It is in the record, and names another account.
SAID_HANDLE = "verified_handle"
POST = "app.bsky.feed.post"
TO_POSTS = ("parent", "root", "post", "pinned")


class Content:
    """All record tables of a database, in the oracle's form: DIDs and numbers of keys instead of ids."""

    def __init__(self, database):
        self.database = database
        tables = oracle.Tables(database)
        rows = {table: tables.rows(table) for table in tables.names}
        self.stubs = {key for key, row in rows["posts"].items() if row["cid"] is None}
        self.deleted = {key for key, row in rows["posts"].items() if row["is_deleted"]}
        self.current = {table: {key: row for key, row in rows[table].items() if row["cid"]} for table in rows}

    def posts_without_content(self):
        """The posts that need a stub: other records refer to them, and they do not exist or violate their lexicon."""
        needed = set()
        for rows in self.current.values():
            for row in rows.values():
                needed.update(_posts_referred_to(row))
        needed.update((did, rkey) for did, collection, rkey in self.current["records"] if collection == POST)
        return needed - self.current["posts"].keys()

    def shown(self, dids):
        """The rows of some accounts in the views of records, counted: each view's name and JSON without the values
        that belong to one database."""
        among = ", ".join(f"'{did}'" for did in dids)
        # The views of pairs, replies and quotes follow from the tables. They leave out pairs with an inactive account, and
        # the repositories do not tell which ones are.
        views = self.database.run("select relname from pg_class where relkind = 'v' "
                                  "and relname <> 'actors_view' and relname !~ '_pairs$|^(replies|quotes)_view$' "
                                  "and relnamespace = 'bsky'::regnamespace and exists (select from pg_attribute "
                                  "where attrelid = pg_class.oid and attname = 'did')").split()
        text = self.database.run(" union all ".join(
            f"select '{view} ' || (select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(v)) "
            f"where key = '{SAID_HANDLE}' or key !~ '{OWN_IN_VIEWS}')::text from bsky.{view} v where did in ({among})"
            for view in views))
        # A text may contain other kinds of line breaks.
        return collections.Counter(line for line in text.split("\n") if line)


def _posts_referred_to(row):
    for column, rkey in row.items():
        name = column.removesuffix("_rkey")
        if column == name or rkey is None:
            continue
        if name in TO_POSTS or row.get(name + "_collection") == POST:
            yield row[name + "_actor"], rkey


class Comparison:
    """`dids`: the accounts whose rows are compared in the tables. `shown`: those whose rows are compared in the views,
    which hide inactive accounts. `rows`: the number of compared rows of `one`, by table and view."""

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
    """{DID: (claimed, held)} of the accounts that claim a handle. If several accounts claim a handle, none holds it
    here, because only a look-up finds the owner."""
    return {row["did"]: (row["handle_claim"], row["held"]) for row in database.rows(
        "select did, handle_claim, case when count(*) over (partition by handle_claim) = 1 then handle end held "
        "from bsky.actors where handle_claim is not null")}

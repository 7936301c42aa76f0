"""What a query database and its nodes have together, compared with one database that has everything."""

import collections

# Columns that belong to one database: numbers of accounts and collections, times of indexing, and what follows from these.
OWN = r"^(rev|recipient|indexed_at|(.*_)?sort_at|page_key|place|id|collection_id|mentions|.*_collection|(.*_)?actor(_id)?|rkey|.*_rkey)$"

# The projections that a query database reads: the keys and the sums of their rows.
SUMMED = {"post_stats": ("bsky.uri(actor_id, 1, rkey)", "likes, reposts, replies, quotes"),
          "actor_stats": ("(select did from bsky.actors where id = actor_id)", "followers, follows, posts"),
          "tag_trends": ("hour, tag", "posts")}
OF_NODES = (*SUMMED, "notifications")
OF_ONE = (*OF_NODES, "post_rules")
VIEWS = f"""select relname from pg_class where relkind = 'v' and relnamespace = 'bsky'::regnamespace
            and relname <> all ('{{{",".join(SUMMED)}}}') order by 1"""

WAITING = "select exists (select from skua.waiting_references) or exists (select from skua.mentioned_accounts)"


def shown(database, view, condition="true"):
    """The rows of a view, counted, without the values that belong to one database."""
    columns = database.run(f"select string_agg(quote_ident(attname), ', ' order by attname) from pg_attribute "
                           f"where attrelid = 'bsky.{view}'::regclass and attname !~ '{OWN}'")
    text = database.run(f"select to_json(r) from (select {columns} from bsky.{view} v where {condition}) r")
    return collections.Counter(text.split("\n"))


def sums(database, projection):
    """The rows of a projection, counted. A row of zeros is there or not: this depends on the batches."""
    keys, numbers = SUMMED[projection]
    return collections.Counter(database.run(f"select {keys}, {numbers} from bsky.{projection} t where greatest({numbers}) > 0").split("\n"))


def numbered(node, groups, table):
    """The accounts, or the texts of record keys, of these groups in a node, with their numbers."""
    columns, number = {"actors": ("id, did", "id"), "rkeys": ("*", "actor_id")}[table]
    rows = node.run(f"select {columns} from bsky.{table} where ({number} >> 57) between {groups.start} and {groups.stop - 1}")
    return set(rows.split("\n")) - {""}

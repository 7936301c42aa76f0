"""Items in records and the views that show them: what a view has in its rows, and what the JSON of the records says.

An item is a row of a query: a mention, an image, a like, a count. `expected` is a function of `Records` that returns
the rows.
"""

import collections
import dataclasses
import json
import typing

END = "the end of the rows"


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    query: str
    expected: typing.Callable


class Records:
    """The records of a network: `recount` has those of all accounts. `statuses`: {did: hosting status}, None for active
    accounts. `deleted_posts`: their AT-URIs. The views depend on both. The time of
    indexing is in no record, nor are the trusted verifiers (`trusted`): the database gives them, {AT-URI: microseconds}."""

    def __init__(self, database, found, statuses=None, deleted_posts=frozenset()):
        self.recount, self.statuses, self.deleted_posts = found, statuses or {}, deleted_posts
        rows = database.rows("select did from skua.trusted_accounts where role = 'verifier'")
        self.trusted = {row["did"] for row in rows}
        self.hidden = {did for did, status in self.statuses.items() if status}
        rows = database.rows(f"select uri, {microseconds('indexed_at')} as at from bsky.all_records")
        self.indexed_at = {row["uri"]: row["at"] for row in rows}

    def all(self, collection):
        """(uri, record)"""
        return [(uri, record) for _, uri, record in self.recount.of(collection)]

    def visible(self, collection):
        """(uri, record), without those of inactive accounts."""
        return [(uri, record) for did, uri, record in self.recount.of(collection) if did not in self.hidden]

    def sort_at(self, uri):
        return self.recount.sort_at(uri, self.indexed_at)


class ItemComparison:
    """Compares the rows of kinds as multisets. `compared`: {kind: number of equal rows}."""

    def __init__(self, database, records, kinds):
        self.differences, self.compared = [], {}
        for kind, rows in zip(kinds, _results(database, [kind.query for kind in kinds])):
            actual = collections.Counter(_text(row.values()) for row in rows)
            expected = collections.Counter(_text(row) for row in kind.expected(records))
            self.compared[kind.name] = (actual & expected).total()
            self.differences += [f"{kind.name}: only the records have {row}" for row in expected - actual]
            self.differences += [f"{kind.name}: only the view has {row}" for row in actual - expected]


def _results(database, queries):
    """The rows of each query, from one call of psql."""
    selects = [f"select coalesce(json_agg(to_json(q)), '[]') from ({query}) q; select '{END}';" for query in queries]
    return [json.loads(text) for text in database.run("\n".join(selects)).split(END)[:-1]]


def _text(row):
    return json.dumps(list(row), sort_keys=True, ensure_ascii=False)


def microseconds(column):
    return f"(extract(epoch from {column}) * 1000000)::int8"

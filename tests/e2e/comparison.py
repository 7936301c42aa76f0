"""Compares a database with the repositories that it was made from: record by record, column by column."""

import pathlib

import atproto
import oracle

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"


def current_paths(database):
    """{did: {path: cid}} of bsky.all_records."""
    found = {}
    for row in database.rows("select did, collection, rkey, cid from bsky.all_records"):
        found.setdefault(row["did"], {})[f"{row['collection']}/{row['rkey']}"] = row["cid"]
    return found


def path_differences(database, repositories, passes=None):
    """`repositories`: {did: atproto.Repository}, all that exist. `passes`: a function of a path that selects the
    compared paths; None: all."""
    found = current_paths(database)
    differences = []
    for did, repository in repositories.items():
        there = {path: cid for path, cid in found.pop(did, {}).items() if passes is None or passes(path)}
        expected = {path: cid.text() for path, (cid, _) in repository.records.items()
                    if passes is None or passes(path)}
        for path in sorted(expected.keys() | there.keys()):
            if expected.get(path) != there.get(path):
                differences.append(
                    f"at://{did}/{path}: the repository has {expected.get(path)}, the database {there.get(path)}"
                )
    differences += [f"{did}: records of an account that has no repository" for did in found]
    return differences


def change_log_differences(database):
    """The differences between the tables and what the change log folds to. A bootstrap is not in the log."""
    if database.value("select exists (select from skua.change_log where kind = '{5}')"):
        return []
    return database.run((SUPPORT / "change_log.sql").read_text()).splitlines()


class ColumnComparison:
    """Compares every column of every current record with its block. `checked` counts records by table, `invalid`
    counts records that violate their lexicon by collection and field. `only`: the DIDs whose rows are compared; None:
    the database must have no other rows."""

    def __init__(self, database, repositories, only=None):
        self.differences = []
        self.checked = {}
        self.invalid = {}
        self.tables = oracle.Tables(database)
        where = "cid is not null"
        if only is not None:
            dids = ", ".join(f"'{did}'" for did in [*only, ""])
            where += f" and actor_id in (select id from bsky.actors where did in ({dids}))"
        self.actual = {table: self.tables.rows(table, where) for table in self.tables.names}
        for did, repository in repositories.items():
            for path, (cid, block) in repository.records.items():
                self._compare(did, path, cid, atproto.to_json(atproto.decode(block)))
        for table, rows in self.actual.items():
            self.differences += [f"{table}: a row too many: {key}" for key in rows]

    def _compare(self, did, path, cid, record):
        table, key, columns, invalid = self.tables.expected(did, path, cid, record)
        row = self.actual[table].pop(key, None)
        if row is None:
            self.differences.append(f"{did}/{path} is not in {table}")
            return
        for name, value in columns.items():
            if row[name] != value:
                self.differences.append(f"{did}/{path}: {table}.{name} is {row[name]!r}, not {value!r}")
        if row["indexed_at"] is None:
            self.differences.append(f"{did}/{path} has no indexed_at")
        if table == "records" and (row["invalid_reason"] is not None) != invalid:
            self.differences.append(f"{did}/{path}: invalid_reason is {row['invalid_reason']!r}")
        if invalid:
            about = path.split("/")[0], (row["invalid_reason"] or "").split(":")[0]
            self.invalid[about] = self.invalid.get(about, 0) + 1
        self.checked[table] = self.checked.get(table, 0) + 1


def unchecked_handles(database, accounts):
    """The number of accounts with a valid handle that still waits for its look-up.

    The other handles are finally looked up in the system's DNS, which may not answer.
    """
    valid = ", ".join(f"'{account['did']}'" for account in accounts if account["handle_valid"])
    return database.value(
        f"select count(*) from bsky.actors where handle_check_due is not null and did in ({valid})")

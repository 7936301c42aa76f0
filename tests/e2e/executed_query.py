"""A query that is executed, and what it read."""

import collections
import json
import re

from test_documents import variables

# A query about something that its arguments name: an account, a record, a label, a link, a tag.
NAMED = re.compile(r":'\w+'")


class ExecutedQuery:
    """An executed query: the rows that it read of each table, the tables that it read completely, the rows of its
    result, and its calls of functions of bsky."""

    def __init__(self, database, statement, arguments=""):
        output = database.run(
            f"{variables()}{arguments}set track_functions = 'all'; begin; explain (analyze, timing off, format json) {statement}; "
            "select 'scanned ' || coalesce(json_agg(relname), '[]') from pg_stat_xact_user_tables "
            "where schemaname = 'bsky' and seq_scan > 0; "
            "select 'calls ' || coalesce(sum(calls), 0) from pg_stat_xact_user_functions where schemaname = 'bsky'; "
            "rollback")
        self.text, scanned, calls = re.fullmatch(r"(.*)\nscanned (.*)\ncalls (\d+)", output, re.DOTALL).groups()
        plan = json.loads(self.text)[0]["Plan"]
        self.rows, self.calls = plan["Actual Rows"], int(calls)
        # The functions' own scans are not in the plan.
        self.read_whole = set(json.loads(scanned))
        self.rows_read = collections.Counter()
        self._add(plan)

    def _add(self, node):
        if "Relation Name" in node:
            removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
            self.rows_read[node["Relation Name"]] += (node["Actual Rows"] + removed) * node["Actual Loops"]
            if node["Node Type"] == "Seq Scan" and node["Actual Loops"] > 0:
                self.read_whole.add(node["Relation Name"])
        for child in node.get("Plans", []):
            self._add(child)

    def reads_more_than(self, part, sizes):
        """The tables of known size of which it read more than a part."""
        return {table for table, size in sizes.items() if self.rows_read[table] > part * size}

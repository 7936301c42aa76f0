"""Settings of the database and of the role change neither the migrations nor what is indexed."""

import unittest

from harness import Database, EndToEnd, with_database
from made import busy_network

# Groups of settings that a database or a role may have, for whatever reason.
SETTINGS = {
    "the form of texts": {
        "quote_all_identifiers": "on", "datestyle": "German", "intervalstyle": "iso_8601", "timezone": "Asia/Tokyo",
        "bytea_output": "escape", "extra_float_digits": "-15", "xmlbinary": "hex", "client_encoding": "LATIN1",
    },
    "the meaning of SQL": {
        "search_path": "pg_temp", "standard_conforming_strings": "off", "backslash_quote": "off", "array_nulls": "off",
        "transform_null_equals": "on", "check_function_bodies": "off", "plpgsql.variable_conflict": "use_column",
        "plpgsql.extra_errors": "all", "plpgsql.extra_warnings": "all", "gin_fuzzy_search_limit": "1",
        "default_text_search_config": "german", "row_security": "off", "session_replication_role": "replica",
        "exit_on_error": "on",
    },
    "transactions and plans": {
        "default_transaction_read_only": "on", "default_transaction_isolation": "serializable",
        "default_transaction_deferrable": "on", "statement_timeout": "20ms", "lock_timeout": "1ms",
        "idle_in_transaction_session_timeout": "20ms", "idle_session_timeout": "100ms", "synchronous_commit": "off",
        "client_min_messages": "debug5", "enable_nestloop": "off", "enable_indexscan": "off", "enable_bitmapscan": "off",
        "plan_cache_mode": "force_custom_plan",
    },
}

# Everything that an index of a capture consists of, without the times of the indexing.
CONTENT = """
select md5(string_agg(did || collection || rkey || cid::text || record::text, ',' order by did, collection, rkey))
from (select r.did, r.collection, r.rkey, r.cid,
             bsky.record_json(format('at://%s/%s/%s', r.did, r.collection, r.rkey)) as record
      from bsky.all_records as r) as records
"""
SCHEMA = """
select md5(string_agg(kind || name || definition, ',' order by kind, name)) from (
  select 'view', c.oid::regclass::text, pg_get_viewdef(c.oid) from pg_class c
  where c.relkind = 'v' and c.relnamespace in ('bsky'::regnamespace, 'skua'::regnamespace)
  union all
  select 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid) from pg_proc p
  where p.pronamespace in ('bsky'::regnamespace, 'skua'::regnamespace)
  union all
  select 'index', i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
  join pg_class c on c.oid = i.indexrelid where c.relnamespace in ('bsky'::regnamespace, 'skua'::regnamespace)
) as objects (kind, name, definition)
"""


class DatabaseSettings(EndToEnd):
    def indexed(self, capture, settings):
        """What a database with these settings contains after the indexing of a capture."""
        database = self.database(migrated=False)
        name = database.value("select current_database()")
        server = Database(with_database(database.url, "postgres"))
        server.run("".join(f"alter database {name} set {setting} = '{value}';" for setting, value in settings.items()))
        self.skua(database, "migrate")
        self.skua(database, "filter", "set", "--collection", "app.bsky.*")
        self.skua(database, "replay", capture)
        server.run(f"alter database {name} reset all")
        return {"schema": database.value(SCHEMA), "content": database.value(CONTENT),
                "filter": database.value("select version from skua.filter_state"),
                "rows": database.value("select count(*) from bsky.all_records")}

    def test_settings_of_the_database_change_nothing(self):
        network, _ = busy_network(accounts=5, rounds=20)
        capture = self.folder / "some.frames"
        capture.write_bytes(network.capture())
        expected = self.indexed(capture, {})
        self.assertGreater(expected["rows"], 50)
        for about, settings in SETTINGS.items():
            with self.subTest(about):
                self.assertEqual(self.indexed(capture, settings), expected)


if __name__ == "__main__":
    unittest.main()

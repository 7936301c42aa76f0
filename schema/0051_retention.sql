-- Excluded accounts, whose rows are removed, and the retention of collections.

CREATE TABLE skua.excluded_accounts (
  did         text COLLATE "C" PRIMARY KEY CHECK (octet_length(did) <= 2048 AND did ~ '^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$'),
  excluded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  removed_at  timestamptz
);
COMMENT ON TABLE skua.excluded_accounts IS 'Accounts whose messages are not read and whose repositories are not downloaded. `skua run` removes their rows. You may change it: `skua filter exclude` does.';
COMMENT ON COLUMN skua.excluded_accounts.did IS 'The account.';
COMMENT ON COLUMN skua.excluded_accounts.excluded_at IS 'The time of the exclusion.';
COMMENT ON COLUMN skua.excluded_accounts.removed_at IS 'The time at which its rows were last removed. Null: not yet.';

CREATE TABLE skua.retention (
  collection text COLLATE "C" PRIMARY KEY CHECK (octet_length(collection) <= 317
    AND collection ~ '^[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)+\.[a-zA-Z][a-zA-Z0-9]*$'),
  keep       interval NOT NULL CHECK (extract(epoch FROM keep) BETWEEN 3600 AND 3155760000),
  next_block int8 CHECK (next_block >= 0),
  pass_at    timestamptz,
  removed    int8 NOT NULL DEFAULT 0
);
COMMENT ON TABLE skua.retention IS 'The time for which records of a collection are kept. `skua run` removes older rows. A collection without a row is kept. You may change it: `skua retention` does.';
COMMENT ON COLUMN skua.retention.collection IS 'The collection, such as app.bsky.feed.like.';
COMMENT ON COLUMN skua.retention.keep IS 'The age at which a record is removed: an hour to a hundred years. The age counts from createdAt or from indexed_at, whichever is earlier.';
COMMENT ON COLUMN skua.retention.next_block IS 'The block of the table at which the present pass continues. Null: no pass is under way.';
COMMENT ON COLUMN skua.retention.pass_at IS 'The beginning of the present or the last pass through the table. Null: none has begun.';
COMMENT ON COLUMN skua.retention.removed IS 'The number of rows that were removed so far.';

ALTER TABLE skua.filter_state ADD excluded text[] NOT NULL DEFAULT '{}', ADD retention jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN skua.filter_state.excluded IS 'The accounts in skua.excluded_accounts, sorted.';
COMMENT ON COLUMN skua.filter_state.retention IS 'skua.retention as an object: seconds by collection.';
COMMENT ON TABLE skua.filter_state IS 'The filter, the excluded accounts and the retention in one row, as processes read it, with the number of its last change. Written when a change of skua.filter, skua.excluded_accounts or skua.retention commits.';
COMMENT ON FUNCTION skua.filter_changed() IS 'Trigger of skua.filter, skua.excluded_accounts and skua.retention: applies the change when it commits.';

CREATE OR REPLACE FUNCTION skua.apply_filter() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  was skua.filter_state;
  new_collections text[];
  new_dids text[];
  new_excluded text[];
  new_retention jsonb;
BEGIN
  SELECT * INTO STRICT was FROM skua.filter_state FOR UPDATE;
  SELECT coalesce(array_agg(f.value::text ORDER BY f.value) FILTER (WHERE f.kind = 'collection'), '{}'),
         coalesce(array_agg(f.value::text ORDER BY f.value) FILTER (WHERE f.kind = 'did'), '{}')
  INTO new_collections, new_dids FROM skua.filter AS f;
  SELECT coalesce(array_agg(e.did::text ORDER BY e.did), '{}') INTO new_excluded FROM skua.excluded_accounts AS e;
  SELECT coalesce(jsonb_object_agg(r.collection, extract(epoch FROM r.keep)::int8), '{}') INTO new_retention FROM skua.retention AS r;
  IF new_collections = was.collections AND new_dids = was.dids AND new_excluded = was.excluded AND new_retention = was.retention THEN
    RETURN NULL;
  END IF;
  UPDATE skua.filter_state SET version = version + 1, changed_at = clock_timestamp(),
    collections = new_collections, dids = new_dids, excluded = new_excluded, retention = new_retention;
  IF skua.collections_are_wider(was.collections, new_collections) THEN
    UPDATE skua.filter_state SET widened = version, widened_at = clock_timestamp(), resync_from = '';
    PERFORM skua.resync_for_filter();
  END IF;
  IF new_excluded <> was.excluded THEN
    -- In the order of DIDs, as in all transactions that lock rows of that table.
    WITH locked AS MATERIALIZED (
      SELECT r.did FROM skua.repositories AS r
      JOIN (SELECT unnest(was.excluded) EXCEPT SELECT unnest(new_excluded)) AS u(did) ON u.did = r.did
      WHERE r.state = 'complete' ORDER BY r.did FOR UPDATE OF r
    )
    UPDATE skua.repositories AS r SET state = 'desynchronized', attempts = 0, error = NULL,
      reason = 'the account was excluded', next_attempt = clock_timestamp() + interval '10 seconds'
    FROM locked WHERE r.did = locked.did;
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.apply_filter() IS 'Trigger of skua.filter_changes at the commit: if the filter, the excluded accounts or the retention have changed, raises the version. Complete repositories become desynchronized if the change added collections or if their account is not excluded any more.';

-- The columns that the indexer writes are no change of the retention.
CREATE TRIGGER filter_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF did ON skua.excluded_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();
CREATE TRIGGER filter_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF collection, keep ON skua.retention
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();

INSERT INTO skua.reader_tables VALUES ('excluded_accounts'), ('retention');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

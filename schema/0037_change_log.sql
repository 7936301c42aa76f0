-- The change log: every change of the content of records, accounts, handles and labels, in commit order.

CREATE TABLE skua.change_log (
  pos            int8        NOT NULL,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  n              int4        NOT NULL,
  kind           int2[]      NOT NULL,
  op             int2[]      NOT NULL,
  actor_id       int4[]      NOT NULL,
  collection_id  int4[]      NOT NULL,
  rkey           int8[]      NOT NULL,
  rev            int8[]      NOT NULL,
  cid            bytea[]     NOT NULL,
  val            text[],
  ref_change     int4[]      NOT NULL,
  ref_role       int2[]      NOT NULL,
  ref_delta      int2[]      NOT NULL,
  ref_actor      int4[]      NOT NULL,
  ref_collection int4[]      NOT NULL,
  ref_rkey       int8[]      NOT NULL,
  PRIMARY KEY (pos)
) PARTITION BY RANGE (pos);
COMMENT ON TABLE skua.change_log IS 'The change log. A row is a block: the changes of one transaction, as parallel arrays. Positions are gapless and in commit order: the next block begins at pos + n. skua.changes and skua.change_references return single changes.';
COMMENT ON COLUMN skua.change_log.pos IS 'The position of the first change of the block.';
COMMENT ON COLUMN skua.change_log.at IS 'When the block was appended, by the server''s clock.';
COMMENT ON COLUMN skua.change_log.n IS 'The number of changes in the block.';
COMMENT ON COLUMN skua.change_log.kind IS '1: a record. 2: the hosting status of an account. 3: the handle of an account. 4: a label. 5: the end of a bootstrap, whose records are not in the log.';
COMMENT ON COLUMN skua.change_log.op IS '1: create. 2: update. 3: delete.';
COMMENT ON COLUMN skua.change_log.actor_id IS 'The account (bsky.actors.id); of a label its labeler; 0 at the end of a bootstrap.';
COMMENT ON COLUMN skua.change_log.collection_id IS 'The collection of the record (bsky.collections.id); otherwise 0.';
COMMENT ON COLUMN skua.change_log.rkey IS 'The key of the record, as a number; otherwise 0.';
COMMENT ON COLUMN skua.change_log.rev IS 'The revision that brought the change; otherwise 0.';
COMMENT ON COLUMN skua.change_log.cid IS 'SHA-256 of the new version of the record; null after a delete and for other kinds.';
COMMENT ON COLUMN skua.change_log.val IS 'The values of labels; null if the block has no labels.';
COMMENT ON COLUMN skua.change_log.ref_change IS 'References that the changes add or remove: the index of the change in the block, from 0. The six arrays ref_... are parallel.';
COMMENT ON COLUMN skua.change_log.ref_role IS 'The number of the target that the reference counts in. 1: likes. 2: reposts. 3: replies. 4: quotes. 5: followers. 6: blocks. 7: items of a list. 8: labels. The target of the next two is the author of the record. 9: posts. 10: followed accounts.';
COMMENT ON COLUMN skua.change_log.ref_delta IS 'The change of the number of references to the target: 1, -1, or 0 if the account has another like, repost, follow or block of the same target, or if a label was updated.';
COMMENT ON COLUMN skua.change_log.ref_actor IS 'The target: its account (bsky.actors.id).';
COMMENT ON COLUMN skua.change_log.ref_collection IS 'The target: its collection (bsky.collections.id); 0: the target is an account.';
COMMENT ON COLUMN skua.change_log.ref_rkey IS 'The target: its key, as a number; 0: the target is an account.';
-- To compress keys and hashes costs time and gains nothing.
ALTER TABLE skua.change_log
  ALTER kind SET STORAGE EXTERNAL, ALTER op SET STORAGE EXTERNAL, ALTER actor_id SET STORAGE EXTERNAL,
  ALTER collection_id SET STORAGE EXTERNAL, ALTER rkey SET STORAGE EXTERNAL, ALTER rev SET STORAGE EXTERNAL,
  ALTER cid SET STORAGE EXTERNAL, ALTER val SET STORAGE EXTERNAL, ALTER ref_change SET STORAGE EXTERNAL,
  ALTER ref_role SET STORAGE EXTERNAL, ALTER ref_delta SET STORAGE EXTERNAL, ALTER ref_actor SET STORAGE EXTERNAL,
  ALTER ref_collection SET STORAGE EXTERNAL, ALTER ref_rkey SET STORAGE EXTERNAL;

CREATE TABLE skua.change_log_state (
  only_row  boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  timeline  int4        NOT NULL DEFAULT 1,
  since     timestamptz NOT NULL DEFAULT now(),
  retention interval    NOT NULL DEFAULT '3 days' CHECK (retention > interval '0'),
  max_bytes int8        NOT NULL DEFAULT 34359738368 CHECK (max_bytes > 0),
  partition int8        NOT NULL DEFAULT 0,
  database  text        NOT NULL DEFAULT ''
);
INSERT INTO skua.change_log_state DEFAULT VALUES;
COMMENT ON TABLE skua.change_log_state IS 'The timeline and the limits of the change log.';
COMMENT ON COLUMN skua.change_log_state.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.change_log_state.timeline IS 'Rises after a failover and after a restore, which may have lost the last changes. A position of another timeline may stand for another change.';
COMMENT ON COLUMN skua.change_log_state.since IS 'When this timeline began.';
COMMENT ON COLUMN skua.change_log_state.retention IS 'How long changes are kept. You may change it: it applies within a minute.';
COMMENT ON COLUMN skua.change_log_state.max_bytes IS 'The maximum size of the log on disk. Beyond it the oldest partitions are dropped, except the newest one. You may change it.';
COMMENT ON COLUMN skua.change_log_state.partition IS 'The number of the partition with the newest block.';
COMMENT ON COLUMN skua.change_log_state.database IS 'The database on this timeline: system identifier, timeline of the WAL, and number of the database.';

-- Advisory locks of the change log, in the space of two numbers (libs/store/source_lock.cpp has 1 and 2 of it):
-- (1936422146, 3) is the mode (shared: a transaction that appends or skips; exclusive: the begin and the end of a
-- bootstrap), (1936422146, 4) is the end of the log. A transaction takes them last, in this order. (1936422146, 5) is
-- held while a partition is created.

CREATE FUNCTION skua.is_logging_changes() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1936422146, 3);
  -- A new statement, so that it sees what the last owner of the lock committed.
  RETURN NOT EXISTS (SELECT FROM skua.dropped_indexes);
END
$$;
COMMENT ON FUNCTION skua.is_logging_changes() IS 'Whether this transaction must append its changes to the change log. False during a bootstrap. The answer holds until the end of the transaction.';

-- Readers may read the log and not its partitions.
CREATE FUNCTION skua.change_log_end() RETURNS int8
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  result int8;
BEGIN
  -- A query of the whole log would open and lock each partition.
  EXECUTE format('SELECT l.pos + l.n FROM skua.change_log_%s AS l ORDER BY l.pos DESC LIMIT 1',
                 (SELECT s.partition FROM skua.change_log_state AS s)) INTO result;
  -- Only the first partition can be empty while it has the end of the log.
  RETURN coalesce(result, 1);
END
$$;
COMMENT ON FUNCTION skua.change_log_end() IS 'The position of the next change.';

-- A partition has 16,777,216 positions.
CREATE FUNCTION skua.make_change_log_partition(number int8) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  name text := 'change_log_' || number;
BEGIN
  -- Another session may create the same partition.
  PERFORM pg_advisory_xact_lock(1936422146, 5);
  IF to_regclass('skua.' || name) IS NOT NULL THEN
    RETURN;
  END IF;
  -- To create a partition directly would lock the whole log against readers.
  EXECUTE format('CREATE TABLE skua.%I (LIKE skua.change_log INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS)', name);
  EXECUTE format('COMMENT ON TABLE skua.%I IS %L', name, 'A part of the change log: positions from ' || (number << 24) || ' on.');
  EXECUTE format('ALTER TABLE skua.change_log ATTACH PARTITION skua.%I FOR VALUES FROM (%s) TO (%s)',
                 name, number << 24, (number + 1) << 24);
END
$$;
COMMENT ON FUNCTION skua.make_change_log_partition(int8) IS 'Creates a partition of the change log if it does not exist.';

SELECT skua.make_change_log_partition(0), skua.make_change_log_partition(1);

CREATE FUNCTION skua.append_changes(
  kinds int2[], ops int2[], actors int4[], collections int4[], rkeys int8[], revs int8[], cids bytea[], vals text[],
  ref_changes int4[], ref_roles int2[], ref_deltas int2[], ref_actors int4[], ref_collections int4[], ref_rkeys int8[]
) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
  first int8;
BEGIN
  -- Held until the commit: positions are gapless and in commit order.
  PERFORM pg_advisory_xact_lock(1936422146, 4);
  first := skua.change_log_end();
  IF NOT EXISTS (SELECT FROM skua.change_log_state AS s WHERE s.partition = first >> 24) THEN
    -- Normally maintenance has created it. Without it the changes could not be stored at all.
    PERFORM skua.make_change_log_partition(first >> 24);
    UPDATE skua.change_log_state AS s SET partition = first >> 24;
  END IF;
  INSERT INTO skua.change_log VALUES (
    first, DEFAULT, cardinality(kinds), kinds, ops, actors, collections, rkeys, revs, cids, vals,
    ref_changes, ref_roles, ref_deltas, ref_actors, ref_collections, ref_rkeys);
  RETURN first;
END
$$;
COMMENT ON FUNCTION skua.append_changes(int2[], int2[], int4[], int4[], int8[], int8[], bytea[], text[], int4[], int2[], int2[], int4[], int4[], int8[]) IS 'Appends one block to the change log and returns its position. The last statement of a transaction, after skua.is_logging_changes.';

CREATE FUNCTION skua.end_bootstrap() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM skua.dropped_indexes) THEN
    RETURN false;
  END IF;
  PERFORM skua.append_changes('{5}', '{1}', '{0}', '{0}', '{0}', '{0}', '{NULL}', NULL, '{}', '{}', '{}', '{}', '{}', '{}');
  RETURN true;
END
$$;
COMMENT ON FUNCTION skua.end_bootstrap() IS 'Appends the end of a bootstrap to the change log if no index is missing any more. The transaction holds the mode of the change log exclusively (skua.lock_change_log_mode) and removed an index from skua.dropped_indexes after that.';

CREATE FUNCTION skua.lock_change_log_mode() RETURNS void
LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(1936422146, 3)
$$;
COMMENT ON FUNCTION skua.lock_change_log_mode() IS 'Waits until no transaction appends changes or skips them, and keeps others from it until the end of the transaction.';

CREATE FUNCTION skua.check_change_log_timeline() RETURNS int4
LANGUAGE plpgsql AS $$
DECLARE
  this_database text := '';
  result int4;
BEGIN
  BEGIN
    this_database := (SELECT system_identifier::text FROM pg_control_system());
  EXCEPTION WHEN insufficient_privilege THEN
    this_database := '?';
  END;
  BEGIN
    this_database := this_database || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  EXCEPTION WHEN insufficient_privilege THEN
    this_database := this_database || '/?';
  END;
  this_database := this_database || '/' || (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database());
  SELECT s.timeline INTO result FROM skua.change_log_state AS s WHERE s.database = this_database;
  IF FOUND THEN
    RETURN result;
  END IF;
  -- The first database begins timeline 1.
  UPDATE skua.change_log_state AS s SET database = this_database, since = clock_timestamp(),
    timeline = s.timeline + CASE WHEN s.database IN ('', this_database) THEN 0 ELSE 1 END
  RETURNING s.timeline INTO result;
  RETURN result;
END
$$;
COMMENT ON FUNCTION skua.check_change_log_timeline() IS 'Begins a new timeline if the database is not the one in skua.change_log_state, as after a failover or restore. Returns the timeline.';

CREATE FUNCTION skua.changes(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, at timestamptz, kind text, op text, actor_id int4, collection_id int4, rkey int8, rev int8, cid bytea, val text)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + c.place - 1, b.at, (ARRAY['record', 'account', 'handle', 'label', 'bootstrap'])[c.kind],
    (ARRAY['create', 'update', 'delete'])[c.op], c.actor_id, c.collection_id, c.rkey, c.rev, c.cid, b.val[c.place]
  FROM (
    SELECT * FROM skua.change_log AS l
    WHERE l.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first)
    ORDER BY l.pos LIMIT max_blocks
  ) AS b,
  unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey, b.rev, b.cid) WITH ORDINALITY
    AS c(kind, op, actor_id, collection_id, rkey, rev, cid, place)
  WHERE b.pos + c.place - 1 >= first ORDER BY 1
$$;
COMMENT ON FUNCTION skua.changes(int8, int4) IS 'The changes from a position on, one in a row, of at most max_blocks blocks.';

CREATE FUNCTION skua.change_references(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, role text, delta int2, actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + r.change, (ARRAY['like', 'repost', 'reply', 'quote', 'follow', 'block', 'list item', 'label', 'post', 'following'])[r.role], r.delta, r.actor_id, r.collection_id, r.rkey
  FROM (
    SELECT * FROM skua.change_log AS l
    WHERE l.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first)
    ORDER BY l.pos LIMIT max_blocks
  ) AS b,
  unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
    AS r(change, role, delta, actor_id, collection_id, rkey)
  WHERE b.pos + r.change >= first ORDER BY 1
$$;
COMMENT ON FUNCTION skua.change_references(int8, int4) IS 'The references that these changes add (delta 1) or remove (-1), one in a row; 0: another record of the account has the same reference.';

-- Whether a like is the first or the last of its account and subject is decided while the account is locked.
DO $$
DECLARE
  wanted text[] := ARRAY['likes', 'subject_actor, subject_rkey, actor_id', 'reposts', 'subject_actor, subject_rkey, actor_id',
                         'follows', 'subject_actor, actor_id', 'blocks', 'subject_actor, actor_id'];
  index_name text;
  build text;
BEGIN
  FOR i IN 1 .. cardinality(wanted) BY 2 LOOP
    index_name := 'bsky.' || wanted[i] || '_subject';
    build := format('CREATE INDEX %s_subject ON bsky.%s USING btree (%s)', wanted[i], wanted[i], wanted[i + 1]);
    IF to_regclass(index_name) IS NOT NULL THEN
      EXECUTE 'DROP INDEX ' || index_name;
      EXECUTE build;
    ELSE
      -- A bootstrap builds it at the end.
      UPDATE skua.dropped_indexes AS d SET definition = build WHERE d.name = index_name;
    END IF;
  END LOOP;
END
$$;

-- What the role skua_reader may read in this schema, besides a part of skua.dead_letter.
CREATE TABLE skua.reader_tables (
  name text NOT NULL PRIMARY KEY
);
COMMENT ON TABLE skua.reader_tables IS 'The tables of the schema skua that the role skua_reader may read. skua.grant_reader grants them.';
COMMENT ON COLUMN skua.reader_tables.name IS 'The table, without its schema.';
INSERT INTO skua.reader_tables VALUES
  ('migrations'), ('cursors'), ('figures'), ('repositories'), ('backfill_jobs'), ('backfill_hosts'), ('dropped_indexes'),
  ('filter'), ('filter_state'), ('change_log'), ('change_log_state');

CREATE OR REPLACE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  table_name text;
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky TO skua_reader;
  GRANT SELECT ON SEQUENCE bsky.actors_id_seq TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky GRANT SELECT ON TABLES TO skua_reader;
  FOR table_name IN SELECT r.name FROM skua.reader_tables AS r LOOP
    EXECUTE format('GRANT SELECT ON skua.%I TO skua_reader', table_name);
  END LOOP;
  -- Not the payload: the bytes of input that could not become rows.
  GRANT SELECT (error, last_at) ON skua.dead_letter TO skua_reader;
END
$$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

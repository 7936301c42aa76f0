-- Appends to the change log, and reads it.
--
-- The locks of the change log are locks of tables that only writers can take. PostgreSQL lets every role take every advisory
-- lock, so a role without rights to write could stop all writes.
--
-- skua.dropped_indexes is the mode (ROW EXCLUSIVE: a transaction that appends or skips; SHARE ROW EXCLUSIVE: the begin
-- and the end of a bootstrap). skua.change_log_state is the end of the log (SHARE UPDATE EXCLUSIVE), also while a
-- partition is created. A transaction takes them last, in this order. A role that may only read can lock these tables
-- as ACCESS SHARE, which conflicts with none of these modes.

CREATE OR REPLACE FUNCTION skua.is_logging_changes() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE skua.dropped_indexes IN ROW EXCLUSIVE MODE;
  -- This is a new statement, so it sees what the last owner of the lock committed.
  RETURN NOT EXISTS (SELECT FROM skua.dropped_indexes);
END
$$;
COMMENT ON FUNCTION skua.is_logging_changes() IS 'Returns true if this transaction must append its changes to the change log, and false during a bootstrap. The result is valid until the end of the transaction.';

CREATE OR REPLACE FUNCTION skua.lock_change_log_mode() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE skua.dropped_indexes IN SHARE ROW EXCLUSIVE MODE;
END
$$;
COMMENT ON FUNCTION skua.lock_change_log_mode() IS 'Waits until no transaction appends changes or skips them, and keeps others from it until the end of the transaction.';

CREATE OR REPLACE FUNCTION skua.end_bootstrap() RETURNS boolean
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

-- SECURITY DEFINER, because readers may not read the partitions directly.
CREATE OR REPLACE FUNCTION skua.change_log_end() RETURNS int8
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  result int8;
BEGIN
  -- A query of the whole log would open and lock each partition.
  EXECUTE format('SELECT l.pos + l.n FROM skua.change_log_%s AS l ORDER BY l.pos DESC LIMIT 1',
                 (SELECT s.partition FROM skua.change_log_state AS s)) INTO result;
  -- Without a result the log is empty: other partitions begin with a block.
  RETURN coalesce(result, 1);
END
$$;
COMMENT ON FUNCTION skua.change_log_end() IS 'The position of the next change.';

-- A partition has 16,777,216 positions. It belongs to the owner of the schema, even if a writer creates it. skua.messages has a
-- partition with the same positions.
CREATE OR REPLACE FUNCTION skua.make_change_log_partition(number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  name text := 'change_log_' || number;
BEGIN
  IF to_regclass('skua.' || name) IS NOT NULL THEN
    RETURN;
  END IF;
  -- Another session may create the same partition.
  LOCK TABLE skua.change_log_state IN SHARE UPDATE EXCLUSIVE MODE;
  IF to_regclass('skua.' || name) IS NOT NULL THEN
    RETURN;
  END IF;
  -- CREATE TABLE ... PARTITION OF would lock the whole table against readers.
  EXECUTE format('CREATE TABLE skua.messages_%s (LIKE skua.messages INCLUDING COMMENTS)', number);
  EXECUTE format('COMMENT ON TABLE skua.messages_%s IS %L', number,
                 'Own messages with positions from ' || (number << 24) || ' on.');
  EXECUTE format('ALTER TABLE skua.messages ATTACH PARTITION skua.messages_%s FOR VALUES FROM (%s) TO (%s)',
                 number, number << 24, (number + 1) << 24);
  EXECUTE format('CREATE TABLE skua.%I (LIKE skua.change_log INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS)', name);
  EXECUTE format('COMMENT ON TABLE skua.%I IS %L', name, 'A part of the change log: positions from ' || (number << 24) || ' on.');
  EXECUTE format('ALTER TABLE skua.change_log ATTACH PARTITION skua.%I FOR VALUES FROM (%s) TO (%s)',
                 name, number << 24, (number + 1) << 24);
END
$$;
COMMENT ON FUNCTION skua.make_change_log_partition(int8) IS 'Creates a partition of the change log, and the one for its messages, if it does not exist.';
REVOKE EXECUTE ON FUNCTION skua.make_change_log_partition(int8) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.drop_change_log_partition(number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  -- skua.sequence_messages and skua.make_change_log_partition lock the two tables in the same order.
  EXECUTE format('DROP TABLE IF EXISTS skua.messages_%s', number);
  EXECUTE format('DROP TABLE IF EXISTS skua.change_log_%s', number);
END
$$;
COMMENT ON FUNCTION skua.drop_change_log_partition(int8) IS 'Drops a partition of the change log, and the one with its messages, if it exists.';
REVOKE EXECUTE ON FUNCTION skua.drop_change_log_partition(int8) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.append_changes(
  kinds int2[], ops int2[], actors int8[], collections int4[], rkeys int8[], revs int8[], cids bytea[], vals text[],
  ref_changes int4[], ref_roles int2[], ref_deltas int2[], ref_actors int8[], ref_collections int4[], ref_rkeys int8[]
) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
  first int8;
BEGIN
  -- The lock is held until the commit, so that positions are gapless and in commit order.
  LOCK TABLE skua.change_log_state IN SHARE UPDATE EXCLUSIVE MODE;
  first := skua.change_log_end();
  IF NOT EXISTS (SELECT FROM skua.change_log_state AS s WHERE s.partition = first >> 24) THEN
    -- Normally maintenance has created the partition before.
    PERFORM skua.make_change_log_partition(first >> 24);
    UPDATE skua.change_log_state AS s SET partition = first >> 24;
  END IF;
  INSERT INTO skua.change_log VALUES (
    first, DEFAULT, cardinality(kinds), kinds, ops, actors, collections, rkeys, revs, cids, vals,
    ref_changes, ref_roles, ref_deltas, ref_actors, ref_collections, ref_rkeys);
  RETURN first;
END
$$;
COMMENT ON FUNCTION skua.append_changes(int2[], int2[], int8[], int4[], int8[], int8[], bytea[], text[], int4[], int2[], int2[], int8[], int4[], int8[]) IS 'Appends one block to the change log and returns its position. A transaction calls skua.is_logging_changes first, and this function in its last statement.';

CREATE OR REPLACE FUNCTION skua.check_change_log_timeline() RETURNS int4
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
  -- A node may lack references that others have sent: to a former database, or to a later state of this one.
  PERFORM skua.request_references();
  RETURN result;
END
$$;
COMMENT ON FUNCTION skua.check_change_log_timeline() IS 'Begins a new timeline if the database is not the one in skua.change_log_state, as after a failover or restore. A new node, and one with a new timeline, asks the other nodes for the references that it may lack. Returns the timeline.';

-- The names of kinds and roles in the change log.
CREATE OR REPLACE FUNCTION skua.change_kind(kind int2) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (ARRAY['record', 'account', 'handle', 'label', 'bootstrap', 'rules', 'message'])[kind]
$$;
COMMENT ON FUNCTION skua.change_kind(int2) IS 'The name of a kind of changes (skua.change_log.kind).';

CREATE OR REPLACE FUNCTION skua.reference_role(role int2) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (ARRAY['like', 'repost', 'reply', 'quote', 'follow', 'block', 'list item', 'label', 'post', 'following', 'listed'])[role]
$$;
COMMENT ON FUNCTION skua.reference_role(int2) IS 'The name of a role of references (skua.change_log.ref_role).';

CREATE OR REPLACE FUNCTION skua.changes(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, at timestamptz, kind text, op text, actor_id int8, collection_id int4, rkey int8, rev int8, cid bytea, val text)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + c.place - 1, b.at, skua.change_kind(c.kind),
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
COMMENT ON FUNCTION skua.changes(int8, int4) IS 'The changes from a position on, one per row, of at most max_blocks blocks.';

CREATE OR REPLACE FUNCTION skua.change_references(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, role text, delta int2, actor_id int8, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + r.change, skua.reference_role(r.role), r.delta, r.actor_id, r.collection_id, r.rkey
  FROM (
    SELECT * FROM skua.change_log AS l
    WHERE l.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first)
    ORDER BY l.pos LIMIT max_blocks
  ) AS b,
  unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
    AS r(change, role, delta, actor_id, collection_id, rkey)
  WHERE b.pos + r.change >= first ORDER BY 1
$$;
COMMENT ON FUNCTION skua.change_references(int8, int4) IS 'The references that the changes from a position on add (delta 1) or remove (-1), one per row, of at most max_blocks blocks. Delta 0: another record of the account has the same reference.';

CREATE OR REPLACE FUNCTION skua.changes_between(first int8, last int8)
RETURNS TABLE (pos int8, kind int2, op int2, actor_id int8, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + c.place - 1, c.kind, c.op, c.actor_id, c.collection_id, c.rkey
  FROM skua.change_log AS b,
    unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey) WITH ORDINALITY
      AS c(kind, op, actor_id, collection_id, rkey, place)
  WHERE b.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first) AND b.pos < last
    AND b.pos + c.place - 1 >= first AND b.pos + c.place - 1 < last
$$;
COMMENT ON FUNCTION skua.changes_between(int8, int8) IS 'The changes from the first position on and before the last, by number: see the columns kind and op of skua.change_log.';

CREATE OR REPLACE FUNCTION skua.references_between(first int8, last int8)
RETURNS TABLE (pos int8, role int2, delta int2, actor_id int8, collection_id int4, rkey int8, author int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + r.change, r.role, r.delta, r.actor_id, r.collection_id, r.rkey, b.actor_id[r.change + 1]
  FROM skua.change_log AS b,
    unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
      AS r(change, role, delta, actor_id, collection_id, rkey)
  WHERE b.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first) AND b.pos < last
    AND b.pos + r.change >= first AND b.pos + r.change < last
$$;
COMMENT ON FUNCTION skua.references_between(int8, int8) IS 'The references of the changes from the first position on and before the last, by number: see the columns ref_... of skua.change_log. author is the account of the change.';

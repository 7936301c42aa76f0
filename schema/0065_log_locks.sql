-- The locks of the change log are locks of tables that only writers can take. PostgreSQL lets every role take every advisory
-- lock, so a role without rights to write could stop all writes.
--
-- skua.dropped_indexes is the mode (ROW EXCLUSIVE: a transaction that appends or skips; SHARE ROW EXCLUSIVE: the begin and
-- the end of a bootstrap). skua.change_log_state is the end of the log (SHARE UPDATE EXCLUSIVE), also while a partition is
-- created. A transaction takes them last, in this order. Whoever may only read can lock these tables as ACCESS SHARE, which
-- conflicts with none of these.

-- Transactions of the former functions end first. Migrations run while no source is read.
SELECT pg_advisory_xact_lock(1936422146, 3), pg_advisory_xact_lock(1936422146, 4), pg_advisory_xact_lock(1936422146, 5);

CREATE OR REPLACE FUNCTION skua.is_logging_changes() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE skua.dropped_indexes IN ROW EXCLUSIVE MODE;
  -- A new statement, so that it sees what the last owner of the lock committed.
  RETURN NOT EXISTS (SELECT FROM skua.dropped_indexes);
END
$$;

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
  -- To create a partition directly would lock the whole log against readers.
  EXECUTE format('CREATE TABLE skua.%I (LIKE skua.change_log INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS)', name);
  EXECUTE format('COMMENT ON TABLE skua.%I IS %L', name, 'A part of the change log: positions from ' || (number << 24) || ' on.');
  EXECUTE format('ALTER TABLE skua.change_log ATTACH PARTITION skua.%I FOR VALUES FROM (%s) TO (%s)',
                 name, number << 24, (number + 1) << 24);
END
$$;

CREATE OR REPLACE FUNCTION skua.append_changes(
  kinds int2[], ops int2[], actors int4[], collections int4[], rkeys int8[], revs int8[], cids bytea[], vals text[],
  ref_changes int4[], ref_roles int2[], ref_deltas int2[], ref_actors int4[], ref_collections int4[], ref_rkeys int8[]
) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
  first int8;
BEGIN
  -- Held until the commit: positions are gapless and in commit order.
  LOCK TABLE skua.change_log_state IN SHARE UPDATE EXCLUSIVE MODE;
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

CREATE OR REPLACE FUNCTION skua.lock_change_log_mode() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE skua.dropped_indexes IN SHARE ROW EXCLUSIVE MODE;
END
$$;

-- Sessions still hold advisory locks of sources and accounts. pg_locks shows their numbers to everybody.
CREATE FUNCTION skua.restrict_advisory_locks() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  lock_function regprocedure;
  writer        text;
BEGIN
  FOR lock_function IN
    SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', lock_function);
    FOR writer IN
      SELECT r.rolname FROM pg_roles AS r WHERE r.rolname = 'skua_writer'
      OR r.oid = (SELECT n.nspowner FROM pg_namespace AS n WHERE n.nspname = 'skua')
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', lock_function, writer);
    END LOOP;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.restrict_advisory_locks() IS 'Lets only skua_writer and the owner of the schema take advisory locks in this database. Only a superuser can run it. It also concerns other programs that use this database.';
REVOKE EXECUTE ON FUNCTION skua.restrict_advisory_locks() FROM PUBLIC;

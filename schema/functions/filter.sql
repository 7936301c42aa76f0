-- The filter: a change of skua.filter, skua.excluded_accounts or skua.retention applies when its transaction commits.

CREATE OR REPLACE FUNCTION skua.collections_are_wider(was text[], becomes text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT cardinality(was) > 0 AND (cardinality(becomes) = 0 OR EXISTS (
    SELECT FROM unnest(becomes) AS b(name)
    WHERE NOT EXISTS (
      SELECT FROM unnest(was) AS w(name)
      WHERE w.name = b.name OR (right(w.name, 2) = '.*' AND starts_with(b.name, left(w.name, -1))))))
$$;
COMMENT ON FUNCTION skua.collections_are_wider(text[], text[]) IS 'Returns true if the second filter of collections stores a collection that the first one does not store.';

CREATE OR REPLACE FUNCTION skua.filter_accounts() RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  SELECT f.value FROM skua.filter AS f WHERE f.kind = 'did'
  UNION
  SELECT split_part(f.value, '/', 3) FROM skua.filter AS f WHERE f.kind = 'list'
  UNION
  SELECT a.did FROM skua.filter AS f CROSS JOIN LATERAL bsky.resolve_uri(f.value) AS l
  JOIN bsky.list_items AS i ON i.list_actor = l.actor_id AND i.list_rkey = l.rkey AND i.actor_id = l.actor_id
  JOIN bsky.actors AS a ON a.id = i.subject_actor
  WHERE f.kind = 'list'
$$;
COMMENT ON FUNCTION skua.filter_accounts() IS 'The accounts that pass the filter if it names accounts or lists: those, the accounts on the lists, and the owners of the lists.';

CREATE OR REPLACE FUNCTION skua.resync_for_filter(at_most int8 DEFAULT 20000) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  first text;
  last text;
  looked_at int8;
BEGIN
  SELECT resync_from INTO first FROM skua.filter_state FOR UPDATE;
  IF first IS NULL THEN
    RETURN false;
  END IF;
  -- All transactions lock rows of this table in the order of DIDs, so that no two wait for each other.
  WITH looked AS MATERIALIZED (
    SELECT r.did FROM skua.repositories AS r WHERE r.did >= first ORDER BY r.did LIMIT at_most
  ), locked AS MATERIALIZED (
    SELECT r.did FROM skua.repositories AS r JOIN looked ON looked.did = r.did
    WHERE r.state = 'complete' ORDER BY r.did FOR UPDATE OF r
  ), made AS (
    UPDATE skua.repositories AS r SET state = 'desynchronized', attempts = 0, error = NULL,
      reason = 'the filter lets more collections through: their older records are missing',
      next_attempt = clock_timestamp() + interval '10 seconds'
    FROM locked WHERE r.did = locked.did
  )
  SELECT count(*), max(looked.did) INTO looked_at, last FROM looked;
  UPDATE skua.filter_state SET resync_from = CASE WHEN looked_at >= at_most THEN last END;
  RETURN looked_at >= at_most;
END
$$;
COMMENT ON FUNCTION skua.resync_for_filter(int8) IS 'Makes some complete repositories desynchronized after a change of the filter that added collections. Returns true if more repositories are left. skua run calls it, each time in a transaction of its own, until it returns false.';

CREATE OR REPLACE FUNCTION skua.widen_filter() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.filter_state SET version = version + 1, widened = version + 1, widened_at = clock_timestamp(),
    resync_from = '';
  PERFORM skua.resync_for_filter();
END
$$;
COMMENT ON FUNCTION skua.widen_filter() IS 'Repeats the consequences of a change that added collections, for a process that noticed the change too late.';

CREATE OR REPLACE FUNCTION skua.filter_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.filter_changes SET changes = changes + 1;
  RETURN NULL;
END
$$;
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
  SELECT coalesce(array_agg(f.value::text ORDER BY f.value), '{}') INTO new_collections FROM skua.filter AS f WHERE f.kind = 'collection';
  SELECT coalesce(array_agg(a ORDER BY a COLLATE "C"), '{}') INTO new_dids FROM skua.filter_accounts() AS a;
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
    -- In the order of DIDs, as above.
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

CREATE OR REPLACE FUNCTION skua.refresh_filter_lists() RETURNS void
LANGUAGE sql AS $$
  UPDATE skua.filter_changes SET changes = changes + 1
  WHERE EXISTS (SELECT FROM skua.filter WHERE kind = 'list')
    AND (SELECT coalesce(array_agg(a ORDER BY a COLLATE "C"), '{}') FROM skua.filter_accounts() AS a) <> (SELECT dids FROM skua.filter_state)
$$;
COMMENT ON FUNCTION skua.refresh_filter_lists() IS 'Updates skua.filter_state if the accounts on a list of the filter have changed. `skua run` calls it every ten seconds.';

-- CREATE OR REPLACE TRIGGER does not support constraint triggers.
DROP TRIGGER IF EXISTS filter_changed ON skua.filter;
CREATE TRIGGER filter_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON skua.filter
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();
-- The columns that the indexer writes are not part of the exclusion or of the retention.
DROP TRIGGER IF EXISTS filter_changed ON skua.excluded_accounts;
CREATE TRIGGER filter_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF did ON skua.excluded_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();
DROP TRIGGER IF EXISTS filter_changed ON skua.retention;
CREATE TRIGGER filter_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF collection, keep ON skua.retention
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();
DROP TRIGGER IF EXISTS apply_filter ON skua.filter_changes;
CREATE CONSTRAINT TRIGGER apply_filter AFTER UPDATE ON skua.filter_changes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION skua.apply_filter();

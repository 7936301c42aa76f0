-- What of the network is stored: collections, and accounts. One truth for all processes, that may change while
-- they run, by `skua filter`, by a file of `skua run`, or by hand here.

CREATE TABLE skua.filter (
  kind  text NOT NULL CHECK (kind IN ('collection', 'did')),
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, value),
  CHECK (kind <> 'collection' OR (octet_length(value) <= 317
    AND value ~ '^[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)+\.([a-zA-Z][a-zA-Z0-9]*|\*)$')),
  CHECK (kind <> 'did' OR (octet_length(value) <= 2048 AND value ~ '^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$'))
);
COMMENT ON TABLE skua.filter IS 'What is stored. Without a row of a kind everything of that kind passes. Change it by hand as you like: with the commit all that follows is seen to.';
COMMENT ON COLUMN skua.filter.kind IS 'collection: records of these alone are stored. did: what these accounts send alone is read.';
COMMENT ON COLUMN skua.filter.value IS 'A collection such as app.bsky.feed.post, or all that begin alike: app.bsky.graph.*; or a DID.';

CREATE TABLE skua.filter_state (
  version     int8        NOT NULL,
  widened     int8        NOT NULL,
  widened_at  timestamptz NOT NULL,
  changed_at  timestamptz NOT NULL,
  only_row    boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  collections text[]      NOT NULL,
  dids        text[]      NOT NULL,
  resync_from text
);
INSERT INTO skua.filter_state (version, widened, widened_at, changed_at, collections, dids)
VALUES (1, 0, '-infinity', now(), '{}', '{}');
COMMENT ON TABLE skua.filter_state IS 'The filter in one row, as processes read it, with the number of its change. Written when a change of skua.filter commits.';
COMMENT ON COLUMN skua.filter_state.version IS 'Every change of skua.filter raises it.';
COMMENT ON COLUMN skua.filter_state.widened IS 'The version that last let collections through that had not passed before; 0: none did. A repository that was asked for under an older one is not complete.';
COMMENT ON COLUMN skua.filter_state.widened_at IS 'When that was. Processes read the filter every second: what is asked for in the first 10 seconds counts as asked for before.';
COMMENT ON COLUMN skua.filter_state.changed_at IS 'When the filter was last changed.';
COMMENT ON COLUMN skua.filter_state.only_row IS 'Sees to it that there is one row.';
COMMENT ON COLUMN skua.filter_state.collections IS 'Those of skua.filter, sorted.';
COMMENT ON COLUMN skua.filter_state.dids IS 'Those of skua.filter, sorted.';
COMMENT ON COLUMN skua.filter_state.resync_from IS 'While a wider filter takes effect: from this DID on, what skua.repositories calls complete is not, and is about to be made to wait for a resync. Null: none is under way.';

-- A table of its own, so that who changes the filter and does not commit holds up nobody who reads it.
CREATE TABLE skua.filter_changes (
  changes  int8    NOT NULL,
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row)
);
INSERT INTO skua.filter_changes (changes) VALUES (0);
COMMENT ON TABLE skua.filter_changes IS 'Calls for skua.filter_state to be written, once a statement that changed skua.filter, when its transaction commits.';
COMMENT ON COLUMN skua.filter_changes.changes IS 'Statements so far that changed skua.filter.';
COMMENT ON COLUMN skua.filter_changes.only_row IS 'Sees to it that there is one row.';

ALTER TABLE skua.repositories ADD COLUMN reason text;
COMMENT ON COLUMN skua.repositories.reason IS 'What makes a resync necessary where it is no break of the stream, in words; null: nothing does.';

CREATE FUNCTION skua.collections_are_wider(was text[], becomes text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT cardinality(was) > 0 AND (cardinality(becomes) = 0 OR EXISTS (
    SELECT FROM unnest(becomes) AS b(name)
    WHERE NOT EXISTS (
      SELECT FROM unnest(was) AS w(name)
      WHERE w.name = b.name OR (right(w.name, 2) = '.*' AND starts_with(b.name, left(w.name, -1))))))
$$;
COMMENT ON FUNCTION skua.collections_are_wider(text[], text[]) IS 'Whether a filter of collections lets anything through that the one before it did not.';

CREATE FUNCTION skua.resync_for_filter(at_most int8 DEFAULT 20000) RETURNS boolean
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
  -- Sorted by DID, as all that takes rows of that table, so that no two wait for each other.
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
COMMENT ON FUNCTION skua.resync_for_filter(int8) IS 'A step of what follows from a wider filter: repositories that were complete wait for a resync. True: there is more to do. Call it in a transaction of its own until it is false; skua run does.';

CREATE FUNCTION skua.widen_filter() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.filter_state SET version = version + 1, widened = version + 1, widened_at = clock_timestamp(),
    resync_from = '';
  PERFORM skua.resync_for_filter();
END
$$;
COMMENT ON FUNCTION skua.widen_filter() IS 'What follows from a wider filter once more, for a process that went by the narrow one for too long.';

CREATE FUNCTION skua.filter_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.filter_changes SET changes = changes + 1;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.filter_changed() IS 'Trigger of skua.filter: has the change take effect when it commits.';

CREATE FUNCTION skua.apply_filter() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  was skua.filter_state;
  new_collections text[];
  new_dids text[];
BEGIN
  SELECT * INTO STRICT was FROM skua.filter_state FOR UPDATE;
  SELECT coalesce(array_agg(f.value::text ORDER BY f.value) FILTER (WHERE f.kind = 'collection'), '{}'),
         coalesce(array_agg(f.value::text ORDER BY f.value) FILTER (WHERE f.kind = 'did'), '{}')
  INTO new_collections, new_dids FROM skua.filter AS f;
  IF new_collections = was.collections AND new_dids = was.dids THEN
    RETURN NULL;
  END IF;
  UPDATE skua.filter_state SET version = version + 1, changed_at = clock_timestamp(),
    collections = new_collections, dids = new_dids;
  IF skua.collections_are_wider(was.collections, new_collections) THEN
    UPDATE skua.filter_state SET widened = version, widened_at = clock_timestamp(), resync_from = '';
    PERFORM skua.resync_for_filter();
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.apply_filter() IS 'Trigger of skua.filter_changes, at the commit: raises the version and makes repositories wait for a resync, if skua.filter is another than before.';

CREATE TRIGGER filter_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON skua.filter
  FOR EACH STATEMENT EXECUTE FUNCTION skua.filter_changed();
CREATE CONSTRAINT TRIGGER apply_filter AFTER UPDATE ON skua.filter_changes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION skua.apply_filter();

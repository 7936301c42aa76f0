-- Consumers of the change log: what reads it, and how far.
--
-- Advisory locks, in the space of two numbers: (1936422146, 6) is held by commands that change consumers, (1936422147, id)
-- by the build of a consumer's tables.

CREATE TABLE skua.consumers (
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at     timestamptz,
  id           int4        NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version      int4        NOT NULL,
  lanes        int2        NOT NULL CHECK (lanes IN (1, 2, 4, 8, 16, 32, 64)),
  paused       boolean     NOT NULL DEFAULT false,
  name         text        NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  kind         text        NOT NULL CHECK (kind IN ('projection')),
  role         text        NOT NULL CHECK (role IN ('live', 'next', 'retired')),
  state        text        NOT NULL CHECK (state IN ('filling', 'running', 'stopped', 'lagged out')),
  policy       text        NOT NULL CHECK (policy IN ('skip', 'pause')),
  profile      text        NOT NULL,
  overrides    jsonb       NOT NULL DEFAULT '{}',
  error        text
);
CREATE UNIQUE INDEX consumers_name ON skua.consumers (name, role) WHERE role <> 'retired';
COMMENT ON TABLE skua.consumers IS 'The consumers of the change log. skua consumers lists and changes them.';
COMMENT ON COLUMN skua.consumers.created_at IS 'The time at which the consumer was added, or its rebuild was requested.';
COMMENT ON COLUMN skua.consumers.retry_at IS 'The time of the next attempt to build the tables, after a failure.';
COMMENT ON COLUMN skua.consumers.id IS 'The number of the consumer. The tables of a projection end in it.';
COMMENT ON COLUMN skua.consumers.version IS 'The version of the projection that built the tables. skua rebuilds the tables of an older version.';
COMMENT ON COLUMN skua.consumers.lanes IS 'The number of lanes. Each lane reads its part of the changes, in order. Different lanes run at the same time.';
COMMENT ON COLUMN skua.consumers.paused IS 'True if the operator paused the consumer.';
COMMENT ON COLUMN skua.consumers.name IS 'The name, such as post_stats. During a rebuild two consumers have it.';
COMMENT ON COLUMN skua.consumers.kind IS 'projection: keeps tables of this database up to date, exactly once.';
COMMENT ON COLUMN skua.consumers.role IS 'live: people see its tables. next: a build or rebuild that is not finished. retired: its tables are dropped soon.';
COMMENT ON COLUMN skua.consumers.state IS 'filling: waits for its first content, from the records. running: follows the log. stopped: a change failed too often (error). lagged out: the log dropped changes that it had not read; it needs a rebuild.';
COMMENT ON COLUMN skua.consumers.policy IS 'The action after a change has failed too often. pause: the consumer stops before it. skip: it becomes a dead letter, and the consumer continues.';
COMMENT ON COLUMN skua.consumers.profile IS 'The tuning profile: default, low_latency, high_throughput or relaxed.';
COMMENT ON COLUMN skua.consumers.overrides IS 'Values that replace those of the profile: batch, pause_ms, max_attempts, retry_ms, max_retry_ms.';
COMMENT ON COLUMN skua.consumers.error IS 'The error that stopped the consumer, or the error of its last build.';

CREATE TABLE skua.consumer_lanes (
  pos         int8        NOT NULL,
  start       int8        NOT NULL DEFAULT 0,
  epoch       int8        NOT NULL DEFAULT 0,
  served_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at    timestamptz,
  consumer_id int4        NOT NULL,
  attempts    int4        NOT NULL DEFAULT 0,
  batch       int4,
  lane        int2        NOT NULL,
  error       text,
  PRIMARY KEY (consumer_id, lane)
) WITH (fillfactor = 50);
COMMENT ON TABLE skua.consumer_lanes IS 'The position of each lane of a consumer in the change log.';
COMMENT ON COLUMN skua.consumer_lanes.pos IS 'The position of the next change.';
COMMENT ON COLUMN skua.consumer_lanes.start IS 'The position at which the lane began. The tables of a projection were built with all changes before it.';
COMMENT ON COLUMN skua.consumer_lanes.epoch IS 'The number of batches so far.';
COMMENT ON COLUMN skua.consumer_lanes.served_at IS 'The time at which the last batch ended. The lane that waits longest is next.';
COMMENT ON COLUMN skua.consumer_lanes.retry_at IS 'The earliest time of the next attempt after a failure.';
COMMENT ON COLUMN skua.consumer_lanes.consumer_id IS 'The consumer (skua.consumers.id).';
COMMENT ON COLUMN skua.consumer_lanes.attempts IS 'Failures of the change at pos.';
COMMENT ON COLUMN skua.consumer_lanes.batch IS 'The number of changes of the next batch, after a failure; null: as in the profile.';
COMMENT ON COLUMN skua.consumer_lanes.lane IS 'The number of the lane, from 0.';
COMMENT ON COLUMN skua.consumer_lanes.error IS 'The last failure of the change at pos.';

CREATE FUNCTION skua.changes_between(first int8, last int8)
RETURNS TABLE (pos int8, kind int2, op int2, actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + c.place - 1, c.kind, c.op, c.actor_id, c.collection_id, c.rkey
  FROM skua.change_log AS b,
    unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey) WITH ORDINALITY
      AS c(kind, op, actor_id, collection_id, rkey, place)
  WHERE b.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first) AND b.pos < last
    AND b.pos + c.place - 1 >= first AND b.pos + c.place - 1 < last
$$;
COMMENT ON FUNCTION skua.changes_between(int8, int8) IS 'The changes from the first position on and before the last, by number: see the columns kind and op of skua.change_log.';

CREATE FUNCTION skua.references_between(first int8, last int8)
RETURNS TABLE (pos int8, role int2, delta int2, actor_id int4, collection_id int4, rkey int8, author int4)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + r.change, r.role, r.delta, r.actor_id, r.collection_id, r.rkey, b.actor_id[r.change + 1]
  FROM skua.change_log AS b,
    unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
      AS r(change, role, delta, actor_id, collection_id, rkey)
  WHERE b.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first) AND b.pos < last
    AND b.pos + r.change >= first AND b.pos + r.change < last
$$;
COMMENT ON FUNCTION skua.references_between(int8, int8) IS 'The references of the changes from the first position on and before the last, by number: see the columns ref_... of skua.change_log. author is the account of the change.';

CREATE FUNCTION skua.consumer_progress(consumer text)
RETURNS TABLE (pos int8, behind int8, lag interval)
LANGUAGE sql STABLE AS $$
  SELECT p.pos, skua.change_log_end() - p.pos,
    CASE WHEN p.pos >= skua.change_log_end() THEN interval '0'
      ELSE clock_timestamp() - (SELECT l.at FROM skua.change_log AS l WHERE l.pos <= p.pos ORDER BY l.pos DESC LIMIT 1) END
  FROM (
    SELECT min(l.pos) AS pos FROM skua.consumers AS c JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
    WHERE c.name = consumer AND c.role = 'live' AND c.state = 'running'
  ) AS p WHERE p.pos IS NOT NULL
$$;
COMMENT ON FUNCTION skua.consumer_progress(text) IS 'The progress of a consumer: the position of its next change, the number of changes behind the end of the log, and the age of the oldest of them. No row: the consumer does not exist, is not built, or is stopped.';

INSERT INTO skua.reader_tables VALUES ('consumers'), ('consumer_lanes');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

-- The work of a projection that waits in its queues is part of its progress: lag, the position that a program waits for, and
-- bsky.is_current count it. The failures of projections have causes of their own.

ALTER TABLE skua.consumer_lanes
  DROP COLUMN has_more,
  ADD COLUMN waiting_pos int8,
  ADD COLUMN is_paced    boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT consumer_lanes_cause_check,
  ADD CONSTRAINT consumer_lanes_cause CHECK (cause IN ('change', 'unreachable', 'name', 'tls', 'slow', 'refused', 'address',
    'busy', 'tables', 'lock'));
COMMENT ON COLUMN skua.consumer_lanes.waiting_pos IS 'The position of the oldest change that left work in the queues of the projection; null: no work waits. The projection continues with it without new changes.';
COMMENT ON COLUMN skua.consumer_lanes.is_paced IS 'True: more posts of the queues wait than a batch computes. The next batch then follows after the pause of the profile, and at once otherwise.';
COMMENT ON COLUMN skua.consumer_lanes.cause IS 'The subject of the last failure; null for a change of a projection. change: a change, or the processing of it. tables: the tables or statements of a projection, or a right; rebuild it, or remove the cause. lock: another session has a lock. The others concern the receiver of a webhook: unreachable (no connection), name (its name does not resolve), tls (its certificate), slow (no answer in time), refused (it refuses the sender, such as HTTP 401), address (nothing at this URL processes changes, such as HTTP 404), busy (it asks to wait, such as HTTP 503).';
COMMENT ON COLUMN skua.consumers.error IS 'The error that stopped the consumer, or the last error in the build, the exchange, the comparison or the drop of its tables.';
COMMENT ON COLUMN skua.consumers.retry_at IS 'The time of the next attempt to build, exchange or drop the tables, after a failure.';

CREATE OR REPLACE FUNCTION skua.consumer_progress(consumer text)
RETURNS TABLE (pos int8, behind int8, lag interval)
LANGUAGE sql STABLE AS $$
  SELECT p.pos, skua.change_log_end() - p.pos,
    CASE WHEN p.pos >= skua.change_log_end() THEN interval '0'
      ELSE clock_timestamp() - (SELECT l.at FROM skua.change_log AS l WHERE l.pos <= p.pos ORDER BY l.pos DESC LIMIT 1) END
  FROM (
    SELECT min(least(l.pos, l.waiting_pos)) AS pos
    FROM skua.consumers AS c JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
    WHERE c.name = consumer AND c.role = 'live' AND c.state = 'running'
  ) AS p WHERE p.pos IS NOT NULL
$$;
COMMENT ON FUNCTION skua.consumer_progress(text) IS 'The progress of a consumer: the position of its oldest change that is not processed, or that left work in a queue; the number of changes from there to the end of the log; and the age of the oldest of them. No row: the consumer does not exist, is not built, or is stopped.';

CREATE FUNCTION skua.tuning_overrides(overrides jsonb)
RETURNS TABLE (batch int4, pause_ms int4, max_attempts int4, retry_ms int4, max_retry_ms int4)
LANGUAGE sql IMMUTABLE ROWS 1 AS $$
  SELECT max(n.value) FILTER (WHERE n.key = 'batch'), max(n.value) FILTER (WHERE n.key = 'pause_ms'),
    max(n.value) FILTER (WHERE n.key = 'max_attempts'), max(n.value) FILTER (WHERE n.key = 'retry_ms'),
    max(n.value) FILTER (WHERE n.key = 'max_retry_ms')
  FROM (
    SELECT o.key, least(substring(o.value FROM '^[0-9]{1,18}$')::int8, 2147483647)::int4 AS value
    FROM jsonb_each_text(CASE WHEN jsonb_typeof(overrides) = 'object' THEN overrides ELSE '{}' END) AS o
  ) AS n
$$;
COMMENT ON FUNCTION skua.tuning_overrides(jsonb) IS 'The values of skua.consumers.overrides. Null: the value is missing, or is not a whole number.';

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

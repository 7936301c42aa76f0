-- Changes that stopped a consumer are marked in its lanes. A malformed filter is a failure of its consumer.

ALTER TABLE skua.consumer_lanes
  DROP CONSTRAINT consumer_lanes_cause,
  ADD CONSTRAINT consumer_lanes_cause CHECK (cause IN ('change', 'unreachable', 'name', 'tls', 'slow', 'refused', 'address',
    'busy', 'tables', 'lock', 'expiry', 'filter'));
UPDATE skua.consumer_lanes AS l
SET is_blocked = true
FROM skua.consumers AS c
WHERE c.id = l.consumer_id AND c.state = 'stopped' AND l.attempts > 0
  AND starts_with(c.error, format('the change at position %s failed: ', l.pos));
COMMENT ON COLUMN skua.consumer_lanes.is_blocked IS 'True: the change at pos failed too often, and the policy is pause or block_lane. `skua consumers reset` continues the lane.';
COMMENT ON COLUMN skua.consumer_lanes.cause IS 'The subject of the last failure. change: a change, or the processing of it. expiry: the lease ended without an answer. tables: the tables or statements of a projection, or a right; rebuild it, or remove the cause. lock: another session has a lock. filter: the filter of the consumer is malformed. The others concern the receiver of a webhook: unreachable (no connection), name (its name does not resolve), tls (its certificate), slow (no answer in time), refused (it refuses the sender, such as HTTP 401), address (nothing at this URL processes changes, such as HTTP 404), busy (it asks to wait, such as HTTP 503).';
COMMENT ON COLUMN skua.consumers.overrides IS 'Values that replace those of the profile: processors, batch, pause_ms, idle_ms, lease_ms, max_attempts, retry_ms, max_retry_ms.';

-- The number of letters of each consumer is in all lists of consumers.
CREATE INDEX dead_letter_of_consumers ON skua.dead_letter (consumer) WHERE status = 'dead' AND pos IS NOT NULL;

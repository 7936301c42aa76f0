-- Since when the batches of a lane fail, how often, and why. Without it a webhook whose receiver is down looks like one that
-- has nothing to do.

ALTER TABLE skua.consumer_lanes
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN failures      int4 NOT NULL DEFAULT 0,
  ADD COLUMN cause         text CHECK (cause IN ('change', 'unreachable', 'name', 'tls', 'slow', 'refused', 'address', 'busy'));
COMMENT ON COLUMN skua.consumer_lanes.failing_since IS 'The time of the first failure after the last batch that succeeded; null: the last batch succeeded.';
COMMENT ON COLUMN skua.consumer_lanes.failures IS 'The number of failures since then, of any change and of the receiver.';
COMMENT ON COLUMN skua.consumer_lanes.cause IS 'The subject of the last failure of a leased consumer. change: a change, or the processing of it. The others concern the receiver of a webhook: unreachable (no connection), name (its name does not resolve), tls (its certificate), slow (no answer in time), refused (it refuses the sender, such as HTTP 401), address (nothing at this URL processes changes, such as HTTP 404), busy (it asks to wait, such as HTTP 503).';
COMMENT ON COLUMN skua.consumer_lanes.error IS 'The last failure; null: the last batch succeeded.';

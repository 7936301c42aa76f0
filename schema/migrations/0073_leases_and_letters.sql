-- A lease that ends without an answer is a failed attempt. Letters of leased consumers keep the event of their change.

ALTER TABLE skua.consumer_lanes
  ADD COLUMN leased_at      timestamptz,
  ADD COLUMN lease_expiries int8 NOT NULL DEFAULT 0,
  DROP CONSTRAINT consumer_lanes_cause,
  ADD CONSTRAINT consumer_lanes_cause CHECK (cause IN ('change', 'unreachable', 'name', 'tls', 'slow', 'refused', 'address',
    'busy', 'tables', 'lock', 'expiry'));
COMMENT ON COLUMN skua.consumer_lanes.leased_at IS 'The time at which the lane was leased; null: the lane is not leased.';
COMMENT ON COLUMN skua.consumer_lanes.lease_expiries IS 'The number of leases that ended without an answer and counted as a failure.';
COMMENT ON COLUMN skua.consumer_lanes.cause IS 'The subject of the last failure; null for a change of a projection. change: a change, or the processing of it. expiry: the lease ended without an answer. tables: the tables or statements of a projection, or a right; rebuild it, or remove the cause. lock: another session has a lock. The others concern the receiver of a webhook: unreachable (no connection), name (its name does not resolve), tls (its certificate), slow (no answer in time), refused (it refuses the sender, such as HTTP 401), address (nothing at this URL processes changes, such as HTTP 404), busy (it asks to wait, such as HTTP 503).';
COMMENT ON COLUMN skua.dead_letter.payload IS 'The bytes. With cid: the record as DAG-CBOR. Operation frame: the message. Otherwise the operation of a commit or the message of the source. At most 1 MiB are kept. Of a webhook or pull consumer: its event as JSON, at most 64 KiB; a larger one is kept without its record.';
COMMENT ON COLUMN skua.dead_letter.payload_bytes IS 'The size of the input. If payload is shorter, it was cut, or is an event without its record. Null: the letter has no bytes.';

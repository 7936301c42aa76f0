-- The consumers of the change log, and their positions in it.
--
-- Advisory locks, in the space of two numbers: commands that change consumers hold (1936422146, 6), the build of a consumer's
-- tables holds (1936422147, id).

CREATE TABLE skua.consumers (
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at   timestamptz,
  id         int4        NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version    int4        NOT NULL,
  lanes      int2        NOT NULL CHECK (lanes IN (1, 2, 4, 8, 16, 32, 64)),
  paused     boolean     NOT NULL DEFAULT false,
  name       text        NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  kind       text        NOT NULL CONSTRAINT consumers_kind CHECK (kind IN ('projection', 'pull', 'webhook')),
  role       text        NOT NULL CHECK (role IN ('live', 'next', 'retired')),
  state      text        NOT NULL CHECK (state IN ('filling', 'running', 'stopped', 'lagged out')),
  policy     text        NOT NULL CONSTRAINT consumers_policy CHECK (policy IN ('skip', 'pause', 'block_lane', 'block_key')),
  profile    text        NOT NULL,
  overrides  jsonb       NOT NULL DEFAULT '{}',
  error      text,
  filter     jsonb       NOT NULL DEFAULT '{}',
  url        text,
  CONSTRAINT consumers_url CHECK ((kind = 'webhook') = (url IS NOT NULL)),
  CONSTRAINT consumers_block_key CHECK (policy <> 'block_key' OR kind <> 'projection')
);
CREATE UNIQUE INDEX consumers_name ON skua.consumers (name, role) WHERE role <> 'retired';
COMMENT ON TABLE skua.consumers IS 'The consumers of the change log. `skua consumers` lists and changes them.';
COMMENT ON COLUMN skua.consumers.created_at IS 'The time at which the consumer was added, or its rebuild was requested.';
COMMENT ON COLUMN skua.consumers.retry_at IS 'The time of the next attempt to build, exchange or drop the tables, after a failure.';
COMMENT ON COLUMN skua.consumers.id IS 'The number of the consumer. The tables of a projection end in it.';
COMMENT ON COLUMN skua.consumers.version IS 'The version of the projection that built the tables. `skua run` rebuilds the tables of an older version.';
COMMENT ON COLUMN skua.consumers.lanes IS 'The number of lanes. Each lane reads its part of the changes, in order. Different lanes run at the same time.';
COMMENT ON COLUMN skua.consumers.paused IS 'True if the operator paused the consumer.';
COMMENT ON COLUMN skua.consumers.name IS 'The name, such as post_stats. During a rebuild two consumers have it.';
COMMENT ON COLUMN skua.consumers.kind IS 'projection: keeps tables of this database up to date, exactly once. pull: a program fetches changes from `skua serve` and acknowledges them. webhook: `skua serve` sends changes to a URL.';
COMMENT ON COLUMN skua.consumers.role IS 'live: people see its tables. next: a build or rebuild that is not finished. retired: its tables are dropped soon.';
COMMENT ON COLUMN skua.consumers.state IS 'filling: waits for its first content, from the records. running: follows the log. stopped: a change failed too often (error). lagged out: the log dropped changes that it had not read; it needs a rebuild.';
COMMENT ON COLUMN skua.consumers.policy IS 'The action after a change has failed too often. pause: the consumer stops before it. skip: it becomes a dead letter, and the consumer continues. block_lane: its lane stops before it, and other lanes continue. block_key: it becomes a dead letter; later changes of its account wait in order, and other accounts continue.';
COMMENT ON COLUMN skua.consumers.profile IS 'The tuning profile: default, low_latency, high_throughput or relaxed.';
COMMENT ON COLUMN skua.consumers.overrides IS 'Values that replace those of the profile: batch, pause_ms, max_attempts, retry_ms, max_retry_ms.';
COMMENT ON COLUMN skua.consumers.error IS 'The error that stopped the consumer, or the last error in the build, the exchange, the comparison or the drop of its tables.';
COMMENT ON COLUMN skua.consumers.filter IS 'The changes that a leased consumer reads: collections, dids, ops and kinds, each a list. An absent list: all.';
COMMENT ON COLUMN skua.consumers.url IS 'Of a webhook: the origin of the address that receives the changes, such as https://example.com. The address is in `skua.consumer_secrets`.';

CREATE TABLE skua.consumer_lanes (
  pos           int8        NOT NULL,
  start         int8        NOT NULL DEFAULT 0,
  epoch         int8        NOT NULL DEFAULT 0,
  served_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at      timestamptz,
  consumer_id   int4        NOT NULL,
  attempts      int4        NOT NULL DEFAULT 0,
  batch         int4,
  lane          int2        NOT NULL,
  error         text,
  lease_until   timestamptz,
  leased_end    int8,
  leased_key    int8,
  leased_count  int4,
  is_blocked    boolean     NOT NULL DEFAULT false,
  owner         text,
  failing_since timestamptz,
  failures      int4        NOT NULL DEFAULT 0,
  cause         text,
  waiting_pos   int8,
  is_paced      boolean     NOT NULL DEFAULT false,
  PRIMARY KEY (consumer_id, lane),
  CONSTRAINT consumer_lanes_lease CHECK (num_nulls(owner, lease_until, leased_end, leased_count) IN (0, 4)
    AND (owner IS NOT NULL OR leased_key IS NULL)),
  CONSTRAINT consumer_lanes_cause CHECK (cause IN ('change', 'unreachable', 'name', 'tls', 'slow', 'refused', 'address',
    'busy', 'tables', 'lock'))
) WITH (fillfactor = 50);
COMMENT ON TABLE skua.consumer_lanes IS 'The position of each lane of a consumer in the change log.';
COMMENT ON COLUMN skua.consumer_lanes.pos IS 'The position of the next change.';
COMMENT ON COLUMN skua.consumer_lanes.start IS 'The position at which the lane began. The tables of a projection were built with all changes before it.';
COMMENT ON COLUMN skua.consumer_lanes.epoch IS 'The number of batches so far; of a leased consumer: of leases. An acknowledgement names the epoch of its lease.';
COMMENT ON COLUMN skua.consumer_lanes.served_at IS 'The start of the last batch of a projection, or the end of the last batch of another consumer. The pause of the profile counts from it. The lane that waits longest is next.';
COMMENT ON COLUMN skua.consumer_lanes.retry_at IS 'The earliest time of the next attempt after a failure.';
COMMENT ON COLUMN skua.consumer_lanes.consumer_id IS 'The consumer (skua.consumers.id).';
COMMENT ON COLUMN skua.consumer_lanes.attempts IS 'The number of failures of the change at pos.';
COMMENT ON COLUMN skua.consumer_lanes.batch IS 'The number of changes of the next batch, after a failure; null: as in the profile.';
COMMENT ON COLUMN skua.consumer_lanes.lane IS 'The number of the lane, from 0.';
COMMENT ON COLUMN skua.consumer_lanes.error IS 'The last failure; null: the last batch succeeded.';
COMMENT ON COLUMN skua.consumer_lanes.lease_until IS 'The end of the lease, by the server''s clock. After that the lane can be leased again.';
COMMENT ON COLUMN skua.consumer_lanes.leased_end IS 'The position after the last change of the lease.';
COMMENT ON COLUMN skua.consumer_lanes.leased_key IS 'The account whose waiting changes are leased (skua.waiting_changes); null: the changes from pos on are.';
COMMENT ON COLUMN skua.consumer_lanes.leased_count IS 'The number of changes of the lease.';
COMMENT ON COLUMN skua.consumer_lanes.is_blocked IS 'True: a change failed too often, and the policy is block_lane. `skua consumers reset` continues the lane.';
COMMENT ON COLUMN skua.consumer_lanes.owner IS 'The random token of the lease; null: the lane is not leased.';
COMMENT ON COLUMN skua.consumer_lanes.failing_since IS 'The time of the first failure after the last batch that succeeded; null: the last batch succeeded.';
COMMENT ON COLUMN skua.consumer_lanes.failures IS 'The number of failures since then, of any change and of the receiver.';
COMMENT ON COLUMN skua.consumer_lanes.cause IS 'The subject of the last failure; null for a change of a projection. change: a change, or the processing of it. tables: the tables or statements of a projection, or a right; rebuild it, or remove the cause. lock: another session has a lock. The others concern the receiver of a webhook: unreachable (no connection), name (its name does not resolve), tls (its certificate), slow (no answer in time), refused (it refuses the sender, such as HTTP 401), address (nothing at this URL processes changes, such as HTTP 404), busy (it asks to wait, such as HTTP 503).';
COMMENT ON COLUMN skua.consumer_lanes.waiting_pos IS 'The position of the oldest change that left work in the queues of the projection; null: no work waits. The projection continues with it without new changes.';
COMMENT ON COLUMN skua.consumer_lanes.is_paced IS 'True: more posts of the queues wait than a batch computes. The next batch then follows after the pause of the profile, and at once otherwise.';

CREATE TABLE skua.waiting_changes (
  pos         int8        NOT NULL,
  until       int8,
  letter_id   int8        NOT NULL,
  served_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at    timestamptz,
  consumer_id int4        NOT NULL,
  actor_id    int8        NOT NULL,
  attempts    int4        NOT NULL DEFAULT 0,
  batch       int4,
  lane        int2        NOT NULL,
  is_open     boolean     NOT NULL,
  error       text,
  PRIMARY KEY (consumer_id, lane, actor_id, pos)
) WITH (fillfactor = 50);
COMMENT ON TABLE skua.waiting_changes IS 'Changes of an account that a leased consumer has not processed although its lane has passed them: the changes behind a dead letter (policy block_key), and dead letters that are replayed.';
COMMENT ON COLUMN skua.waiting_changes.pos IS 'The position of the first one. While is_open is false, this change is a dead letter.';
COMMENT ON COLUMN skua.waiting_changes.until IS 'The position after the last one; null: all changes of the account wait, up to the position of the lane and later.';
COMMENT ON COLUMN skua.waiting_changes.letter_id IS 'The dead letter (skua.dead_letter.id) of the first change that waited.';
COMMENT ON COLUMN skua.waiting_changes.served_at IS 'The time at which the last batch ended.';
COMMENT ON COLUMN skua.waiting_changes.retry_at IS 'The earliest time of the next attempt after a failure.';
COMMENT ON COLUMN skua.waiting_changes.consumer_id IS 'The consumer (skua.consumers.id).';
COMMENT ON COLUMN skua.waiting_changes.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN skua.waiting_changes.attempts IS 'The number of failures of the change at pos.';
COMMENT ON COLUMN skua.waiting_changes.batch IS 'The number of changes of the next batch, after a failure; null: as in the profile.';
COMMENT ON COLUMN skua.waiting_changes.lane IS 'The lane of the account.';
COMMENT ON COLUMN skua.waiting_changes.is_open IS 'True: the changes are delivered. False: they wait until the dead letter at pos is replayed, resolved or discarded.';
COMMENT ON COLUMN skua.waiting_changes.error IS 'The last failure of the change at pos.';

CREATE TABLE skua.consumer_secrets (
  consumer_id int4 NOT NULL PRIMARY KEY,
  secret      text NOT NULL,
  url         text
);
COMMENT ON TABLE skua.consumer_secrets IS 'The addresses and secrets of webhooks, and the hashed tokens of pull consumers. Readers of the database do not see them.';
COMMENT ON COLUMN skua.consumer_secrets.consumer_id IS 'The consumer (skua.consumers.id).';
COMMENT ON COLUMN skua.consumer_secrets.secret IS 'Of a webhook: the key that signs its requests. Of a pull consumer: the SHA-256 of its token, in hexadecimal digits.';
COMMENT ON COLUMN skua.consumer_secrets.url IS 'Of a webhook: the address that receives the changes. Null for a pull consumer.';

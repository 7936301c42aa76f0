-- Leased consumers: programs outside of the database that read the change log and acknowledge what they have processed.

ALTER TABLE skua.consumers
  DROP CONSTRAINT consumers_kind_check,
  DROP CONSTRAINT consumers_policy_check,
  ADD COLUMN filter jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN url    text,
  ADD CONSTRAINT consumers_kind CHECK (kind IN ('projection', 'pull', 'webhook')),
  ADD CONSTRAINT consumers_policy CHECK (policy IN ('skip', 'pause', 'block_lane', 'block_key')),
  ADD CONSTRAINT consumers_url CHECK ((kind = 'webhook') = (url IS NOT NULL)),
  ADD CONSTRAINT consumers_block_key CHECK (policy <> 'block_key' OR kind <> 'projection');
COMMENT ON COLUMN skua.consumers.kind IS 'projection: keeps tables of this database up to date, exactly once. pull: a program fetches changes from skua serve and acknowledges them. webhook: skua serve sends changes to a URL.';
COMMENT ON COLUMN skua.consumers.policy IS 'The action after a change has failed too often. pause: the consumer stops before it. skip: it becomes a dead letter, and the consumer continues. block_lane: its lane stops before it, and other lanes continue. block_key: it becomes a dead letter; later changes of its account wait in order, and other accounts continue.';
COMMENT ON COLUMN skua.consumers.filter IS 'The changes that a leased consumer reads: collections, dids, ops and kinds, each a list. An absent list: all.';
COMMENT ON COLUMN skua.consumers.url IS 'Of a webhook: the address that receives the changes.';

ALTER TABLE skua.consumer_lanes
  ADD COLUMN lease_until  timestamptz,
  ADD COLUMN leased_end   int8,
  ADD COLUMN leased_key   int4,
  ADD COLUMN leased_count int4,
  ADD COLUMN is_blocked   boolean NOT NULL DEFAULT false,
  ADD COLUMN owner        text,
  ADD CONSTRAINT consumer_lanes_lease CHECK (num_nulls(owner, lease_until, leased_end, leased_count) IN (0, 4)
    AND (owner IS NOT NULL OR leased_key IS NULL));
COMMENT ON COLUMN skua.consumer_lanes.epoch IS 'The number of batches so far; of a leased consumer: of leases. An acknowledgement names the epoch of its lease.';
COMMENT ON COLUMN skua.consumer_lanes.lease_until IS 'The end of the lease, by the server''s clock. After that the lane can be leased again.';
COMMENT ON COLUMN skua.consumer_lanes.leased_end IS 'The position after the last change of the lease.';
COMMENT ON COLUMN skua.consumer_lanes.leased_key IS 'The account whose waiting changes are leased (skua.waiting_changes); null: the changes from pos on are.';
COMMENT ON COLUMN skua.consumer_lanes.leased_count IS 'The number of changes of the lease.';
COMMENT ON COLUMN skua.consumer_lanes.is_blocked IS 'True: a change failed too often, and the policy is block_lane. skua consumers reset continues the lane.';
COMMENT ON COLUMN skua.consumer_lanes.owner IS 'The random token of the lease; null: the lane is not leased.';

CREATE TABLE skua.waiting_changes (
  pos         int8        NOT NULL,
  until       int8,
  letter_id   int8        NOT NULL,
  served_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry_at    timestamptz,
  consumer_id int4        NOT NULL,
  actor_id    int4        NOT NULL,
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
COMMENT ON COLUMN skua.waiting_changes.attempts IS 'Failures of the change at pos.';
COMMENT ON COLUMN skua.waiting_changes.batch IS 'The number of changes of the next batch, after a failure; null: as in the profile.';
COMMENT ON COLUMN skua.waiting_changes.lane IS 'The lane of the account.';
COMMENT ON COLUMN skua.waiting_changes.is_open IS 'True: the changes are delivered. False: they wait until the dead letter at pos is replayed, resolved or discarded.';
COMMENT ON COLUMN skua.waiting_changes.error IS 'The last failure of the change at pos.';

CREATE TABLE skua.consumer_secrets (
  consumer_id int4 NOT NULL PRIMARY KEY,
  secret      text NOT NULL
);
COMMENT ON TABLE skua.consumer_secrets IS 'The secrets of leased consumers. Readers of the database do not see them.';
COMMENT ON COLUMN skua.consumer_secrets.consumer_id IS 'The consumer (skua.consumers.id).';
COMMENT ON COLUMN skua.consumer_secrets.secret IS 'Of a webhook: the key that signs its requests. Of a pull consumer: the SHA-256 of its token, in hexadecimal digits.';

INSERT INTO skua.reader_tables VALUES ('waiting_changes');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

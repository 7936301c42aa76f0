-- Dead letters of the indexer and of consumers of the change log.

CREATE TABLE skua.dead_letter (
  id            int8        GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_at       timestamptz NOT NULL DEFAULT now(),
  attempts      int4        NOT NULL DEFAULT 1,
  status        text        NOT NULL DEFAULT 'dead',
  consumer      text        NOT NULL,
  key           text        NOT NULL,
  sqlstate      text,
  error         text        NOT NULL,
  payload       bytea,
  did           text        NOT NULL DEFAULT '',
  rev           int8,
  pos           int8,
  rkey          int8,
  lease_until   timestamptz,
  finished_at   timestamptz,
  timeline      int4,
  lane          int4,
  actor_id      int8,
  collection_id int4,
  payload_bytes int4,
  source        text,
  path          text,
  operation     text,
  cid           bytea,
  lease_owner   text,
  note          text,
  UNIQUE (consumer, key),
  CONSTRAINT dead_letter_status CHECK (status IN ('dead', 'requested', 'replaying', 'resolved', 'discarded')),
  CONSTRAINT dead_letter_operation CHECK (operation IN ('create', 'update', 'delete', 'frame', 'label')),
  CONSTRAINT dead_letter_lease CHECK ((status = 'replaying') = (lease_owner IS NOT NULL) AND (lease_owner IS NULL) = (lease_until IS NULL)),
  CONSTRAINT dead_letter_finished CHECK ((status IN ('resolved', 'discarded')) = (finished_at IS NOT NULL)),
  CONSTRAINT dead_letter_position CHECK ((pos IS NULL) = (timeline IS NULL) AND (pos IS NULL) = (lane IS NULL))
);
-- The letters of one account are bounded.
CREATE INDEX dead_letter_did ON skua.dead_letter (did);
CREATE INDEX dead_letter_finished ON skua.dead_letter (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX dead_letter_requested ON skua.dead_letter (consumer, lane, pos) WHERE status IN ('requested', 'replaying') AND pos IS NOT NULL;
COMMENT ON TABLE skua.dead_letter IS 'Dead letters: input that the indexer could not store as rows, and changes that a consumer of the change log could not process, with the reason and with what a replay needs. `skua dead-letters` reads and changes them.';
COMMENT ON COLUMN skua.dead_letter.id IS 'The number of the letter.';
COMMENT ON COLUMN skua.dead_letter.created_at IS 'The time of the first rejection.';
COMMENT ON COLUMN skua.dead_letter.last_at IS 'The time of the last rejection.';
COMMENT ON COLUMN skua.dead_letter.attempts IS 'The number of failures with different outcomes, failed replays included. A repetition does not count.';
COMMENT ON COLUMN skua.dead_letter.status IS 'dead: nobody has handled it. requested: its consumer is to process it again. replaying: a process has leased it. resolved: a replay succeeded, or an operator resolved it. discarded: by an operator.';
COMMENT ON COLUMN skua.dead_letter.consumer IS 'The component that rejected it: indexer, or the name of a consumer of the change log.';
COMMENT ON COLUMN skua.dead_letter.key IS 'Identifies the letter among those of its consumer. Indexer: source, position and item. Consumer of the change log: timeline-position.';
COMMENT ON COLUMN skua.dead_letter.sqlstate IS 'PostgreSQL''s error code, if PostgreSQL rejected it.';
COMMENT ON COLUMN skua.dead_letter.error IS 'The reason.';
COMMENT ON COLUMN skua.dead_letter.payload IS 'The bytes. With cid: the record as DAG-CBOR. Operation frame: the message. Otherwise the operation of a commit or the message of the source. Of a consumer: its own. At most 1 MiB are kept.';
COMMENT ON COLUMN skua.dead_letter.did IS 'The account that the letter concerns; empty: unknown. An account has at most 1,000 letters.';
COMMENT ON COLUMN skua.dead_letter.rev IS 'Of an indexer''s letter: the revision of the commit (bsky.tid_text returns its text); null: unknown.';
COMMENT ON COLUMN skua.dead_letter.pos IS 'Of a consumer''s letter: the position of the change (skua.change_log); null: the letter is the indexer''s.';
COMMENT ON COLUMN skua.dead_letter.rkey IS 'Of a consumer''s letter: the key of the record, as a number, as in skua.change_log.';
COMMENT ON COLUMN skua.dead_letter.lease_until IS 'The end of the lease of a replay, by the server''s clock. After that another process may lease the letter.';
COMMENT ON COLUMN skua.dead_letter.finished_at IS 'The time at which the letter was resolved or discarded. It is deleted 30 days later.';
COMMENT ON COLUMN skua.dead_letter.timeline IS 'Of a consumer''s letter: the timeline of pos.';
COMMENT ON COLUMN skua.dead_letter.lane IS 'Of a consumer''s letter: the lane of the consumer.';
COMMENT ON COLUMN skua.dead_letter.actor_id IS 'Of a consumer''s letter: the account of the change (bsky.actors.id).';
COMMENT ON COLUMN skua.dead_letter.collection_id IS 'Of a consumer''s letter: the collection of the change (bsky.collections.id); 0: the change is not of a record.';
COMMENT ON COLUMN skua.dead_letter.payload_bytes IS 'The size of the input. If payload is shorter, it was cut. Null: the letter has no bytes.';
COMMENT ON COLUMN skua.dead_letter.source IS 'Of an indexer''s letter: the source of the input, as in skua.cursors, or backfill; null: unknown.';
COMMENT ON COLUMN skua.dead_letter.path IS 'Of an indexer''s letter: the path of the record, collection/rkey; null: the letter is not of one record.';
COMMENT ON COLUMN skua.dead_letter.operation IS 'create, update or delete: of a record. frame: a whole message. label: a label. Null: unknown.';
COMMENT ON COLUMN skua.dead_letter.cid IS 'SHA-256 of the record, if payload is the record; otherwise null.';
COMMENT ON COLUMN skua.dead_letter.lease_owner IS 'The process that replays the letter: the application_name of its database session, which contains a random token.';
COMMENT ON COLUMN skua.dead_letter.note IS 'A remark of the operator or of the replay that finished the letter; null: none.';

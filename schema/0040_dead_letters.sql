-- Dead letters of the indexer and of consumers of the change log, with what a replay needs.

ALTER TABLE skua.dead_letter
  ADD COLUMN rev           int8,
  ADD COLUMN pos           int8,
  ADD COLUMN rkey          int8,
  ADD COLUMN lease_until   timestamptz,
  ADD COLUMN finished_at   timestamptz,
  ADD COLUMN timeline      int4,
  ADD COLUMN lane          int4,
  ADD COLUMN actor_id      int4,
  ADD COLUMN collection_id int4,
  ADD COLUMN payload_bytes int4,
  ADD COLUMN source        text,
  ADD COLUMN path          text,
  ADD COLUMN operation     text,
  ADD COLUMN cid           bytea,
  ADD COLUMN lease_owner   text,
  ADD COLUMN note          text;

-- The key of an indexer's letter is: source, position, at://account/path or account/item, and a hash if the position is unknown.
-- A key of 1,000 bytes was cut.
UPDATE skua.dead_letter AS d SET
  source = substring(d.key FROM '^(\S+) -?[0-9]+ '),
  path = CASE WHEN octet_length(d.key) < 1000 THEN substring(d.key FROM
    ' (?:at://)?did:[a-z]+:[A-Za-z0-9._:%-]+/([A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+){2,}/[A-Za-z0-9._:~-]+)(?: sha256:[0-9a-f]{64})?$') END,
  operation = CASE WHEN d.key ~ '/frame( sha256:[0-9a-f]{64})?$' THEN 'frame' WHEN d.key ~ '/labels/[0-9]+( sha256:[0-9a-f]{64})?$' THEN 'label' END,
  payload_bytes = coalesce(substring(d.error FROM '\(the payload had ([0-9]{1,9}) bytes; the first [0-9]+ are kept\)$')::int4, octet_length(d.payload))
WHERE d.consumer = 'indexer';

-- Statuses that an operator wrote.
UPDATE skua.dead_letter SET status = 'dead' WHERE status NOT IN ('dead', 'resolved', 'discarded');
UPDATE skua.dead_letter SET finished_at = now() WHERE status IN ('resolved', 'discarded');

ALTER TABLE skua.dead_letter
  ADD CONSTRAINT dead_letter_status CHECK (status IN ('dead', 'requested', 'replaying', 'resolved', 'discarded')),
  ADD CONSTRAINT dead_letter_operation CHECK (operation IN ('create', 'update', 'delete', 'frame', 'label')),
  ADD CONSTRAINT dead_letter_lease CHECK ((status = 'replaying') = (lease_owner IS NOT NULL) AND (lease_owner IS NULL) = (lease_until IS NULL)),
  ADD CONSTRAINT dead_letter_finished CHECK ((status IN ('resolved', 'discarded')) = (finished_at IS NOT NULL)),
  ADD CONSTRAINT dead_letter_position CHECK ((pos IS NULL) = (timeline IS NULL) AND (pos IS NULL) = (lane IS NULL));

CREATE INDEX dead_letter_finished ON skua.dead_letter (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX dead_letter_requested ON skua.dead_letter (consumer, lane, pos) WHERE status IN ('requested', 'replaying') AND pos IS NOT NULL;

COMMENT ON TABLE skua.dead_letter IS 'Dead letters: input that the indexer could not store as rows, and changes that a consumer of the change log could not process, with the reason and with what a replay needs.';
COMMENT ON COLUMN skua.dead_letter.id IS 'The number of the letter.';
COMMENT ON COLUMN skua.dead_letter.attempts IS 'The number of failures with different outcomes, failed replays included. A repetition does not count.';
COMMENT ON COLUMN skua.dead_letter.status IS 'dead: nobody has handled it. requested: its consumer is to process it again. replaying: a process has leased it. resolved: a replay succeeded, or an operator resolved it. discarded: by an operator.';
COMMENT ON COLUMN skua.dead_letter.consumer IS 'The component that rejected it: indexer, or the name of a consumer of the change log.';
COMMENT ON COLUMN skua.dead_letter.key IS 'Identifies the letter among those of its consumer. Indexer: source, position and item. Consumer of the change log: timeline-position.';
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

CREATE VIEW skua.dead_letter_errors AS
  SELECT error, last_at FROM skua.dead_letter WHERE status = 'dead';
COMMENT ON VIEW skua.dead_letter_errors IS 'The errors of dead letters that nobody has handled, without what the network sent. For readers.';
COMMENT ON COLUMN skua.dead_letter_errors.error IS 'The reason.';
COMMENT ON COLUMN skua.dead_letter_errors.last_at IS 'The time of the last rejection of the letter.';

INSERT INTO skua.reader_tables VALUES ('dead_letter_errors');

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

-- The progress of the indexer in its sources, and what deletes leave behind.

CREATE TABLE skua.cursors (
  cursor     int8        NOT NULL,
  event_time timestamptz,
  saved_at   timestamptz NOT NULL,
  source     text        NOT NULL PRIMARY KEY
);
COMMENT ON TABLE skua.cursors IS 'The position in each source: all events up to the cursor are in the tables.';
COMMENT ON COLUMN skua.cursors.cursor IS 'The newest sequence number for which this frame and all earlier frames are durable.';
COMMENT ON COLUMN skua.cursors.event_time IS 'The time of this frame by the clock of the source.';
COMMENT ON COLUMN skua.cursors.saved_at IS 'The time at which the row was last written.';
COMMENT ON COLUMN skua.cursors.source IS 'The kind and the host of the source, such as relay:relay1.us-east.bsky.network. Each host has its own sequence numbers.';

CREATE TABLE skua.metrics (
  at      timestamptz NOT NULL,
  source  text        NOT NULL PRIMARY KEY,
  metrics jsonb       NOT NULL
);
COMMENT ON TABLE skua.metrics IS 'The latest metrics of each source and of the backfill, for `skua status`.';
COMMENT ON COLUMN skua.metrics.at IS 'The time at which the metrics were read.';
COMMENT ON COLUMN skua.metrics.source IS 'The source, as in skua.cursors; or backfill.';
COMMENT ON COLUMN skua.metrics.metrics IS 'Keys and values. `skua help metrics` explains them.';

CREATE TABLE skua.tombstones (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  seq           int8 NOT NULL,
  actor_id      int8 NOT NULL,
  collection_id int4 NOT NULL,
  source        text NOT NULL,
  PRIMARY KEY (actor_id, collection_id, rkey)
);
CREATE INDEX tombstones_source_seq ON skua.tombstones (source, seq);
COMMENT ON TABLE skua.tombstones IS 'Recent deletes, so that a repeated create does not restore a deleted record. A row is removed after the saved cursor has passed it, but not while a backfill of the account runs.';
COMMENT ON COLUMN skua.tombstones.rkey IS 'The record key of the deleted record, as a number.';
COMMENT ON COLUMN skua.tombstones.rev IS 'The revision of the delete.';
COMMENT ON COLUMN skua.tombstones.seq IS 'The sequence number of the frame that contained the delete.';
COMMENT ON COLUMN skua.tombstones.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN skua.tombstones.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN skua.tombstones.source IS 'The source whose cursor must pass seq (skua.cursors.source).';

-- Deleted accounts whose rows remain to be deleted, so that an account with many rows does not delay the worker that
-- writes its deletion.
CREATE TABLE skua.purges (
  did       text COLLATE "C" PRIMARY KEY,
  actor_id  int8        NOT NULL,
  floor_rev int8        NOT NULL,
  said_at   timestamptz NOT NULL
);
COMMENT ON TABLE skua.purges IS 'Deleted accounts whose rows remain to be deleted. The worker that writes a deletion deletes the first 5,000 rows of the account. `skua run` deletes the others, and then the row of this table.';
COMMENT ON COLUMN skua.purges.did IS 'The account.';
COMMENT ON COLUMN skua.purges.actor_id IS '`id` in `bsky.actors`.';
COMMENT ON COLUMN skua.purges.floor_rev IS 'Records with this or an earlier revision are deleted.';
COMMENT ON COLUMN skua.purges.said_at IS 'The time of the deletion, by the clock of the host. Labels that the account published until then are deleted.';

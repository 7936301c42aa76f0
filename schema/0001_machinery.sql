-- The schemas, and what the indexer needs for itself.

CREATE SCHEMA bsky;
COMMENT ON SCHEMA bsky IS 'What the network holds: accounts, records and the views and functions for reading them.';

CREATE SCHEMA skua;
COMMENT ON SCHEMA skua IS 'The indexer''s own state: migrations, cursors, tombstones, rejected input. Nothing here is needed to read the network.';

CREATE TABLE skua.migrations (
  applied_at timestamptz NOT NULL DEFAULT now(),
  version    int4        NOT NULL PRIMARY KEY,
  name       text        NOT NULL,
  checksum   text        NOT NULL
);
COMMENT ON TABLE skua.migrations IS 'The migrations that this database has had.';
COMMENT ON COLUMN skua.migrations.applied_at IS 'When it was applied.';
COMMENT ON COLUMN skua.migrations.version IS 'The number at the start of the file''s name.';
COMMENT ON COLUMN skua.migrations.name IS 'The file''s name, without number and ending.';
COMMENT ON COLUMN skua.migrations.checksum IS 'SHA-256 of the file, in hex. A file must not change after it was applied.';

CREATE TABLE skua.cursors (
  cursor     int8        NOT NULL,
  event_time timestamptz,
  saved_at   timestamptz NOT NULL,
  source     text        NOT NULL PRIMARY KEY
);
COMMENT ON TABLE skua.cursors IS 'How far each source has been read: everything up to the cursor is in the tables.';
COMMENT ON COLUMN skua.cursors.cursor IS 'The source''s sequence number of the last frame below which all is durable.';
COMMENT ON COLUMN skua.cursors.event_time IS 'When the source says that this frame was made.';
COMMENT ON COLUMN skua.cursors.saved_at IS 'When the row was last written.';
COMMENT ON COLUMN skua.cursors.source IS 'Kind and host, such as relay:relay1.us-east.bsky.network. Sequences are per host.';

CREATE TABLE skua.tombstones (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  seq           int8 NOT NULL,
  actor_id      int4 NOT NULL,
  collection_id int4 NOT NULL,
  source        text NOT NULL,
  PRIMARY KEY (actor_id, collection_id, rkey)
);
CREATE INDEX tombstones_source_seq ON skua.tombstones (source, seq);
COMMENT ON TABLE skua.tombstones IS 'Recent deletes, so that a replayed create of a deleted record stays out. Removed when the saved cursor has passed them.';
COMMENT ON COLUMN skua.tombstones.rkey IS 'The deleted record''s key, as a number.';
COMMENT ON COLUMN skua.tombstones.rev IS 'The revision of the delete.';
COMMENT ON COLUMN skua.tombstones.seq IS 'The sequence number of the frame that brought it.';
COMMENT ON COLUMN skua.tombstones.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN skua.tombstones.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN skua.tombstones.source IS 'The source whose cursor must pass seq (skua.cursors.source).';

CREATE TABLE skua.dead_letter (
  id         int8        GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_at    timestamptz NOT NULL DEFAULT now(),
  attempts   int4        NOT NULL DEFAULT 1,
  status     text        NOT NULL DEFAULT 'dead',
  consumer   text        NOT NULL,
  key        text        NOT NULL,
  sqlstate   text,
  error      text        NOT NULL,
  payload    bytea,
  UNIQUE (consumer, key)
);
COMMENT ON TABLE skua.dead_letter IS 'Input that could not become rows, with its bytes and the reason. Its neighbours were let through.';
COMMENT ON COLUMN skua.dead_letter.id IS 'Number of the letter.';
COMMENT ON COLUMN skua.dead_letter.created_at IS 'When it was first rejected.';
COMMENT ON COLUMN skua.dead_letter.last_at IS 'When it was last rejected.';
COMMENT ON COLUMN skua.dead_letter.attempts IS 'How many times it was rejected with a new outcome; a plain replay does not count.';
COMMENT ON COLUMN skua.dead_letter.status IS 'dead: waits for somebody to look at it.';
COMMENT ON COLUMN skua.dead_letter.consumer IS 'Who rejected it: indexer.';
COMMENT ON COLUMN skua.dead_letter.key IS 'What it is: source, position and operation.';
COMMENT ON COLUMN skua.dead_letter.sqlstate IS 'PostgreSQL''s error code, when PostgreSQL refused it.';
COMMENT ON COLUMN skua.dead_letter.error IS 'Why, in plain words.';
COMMENT ON COLUMN skua.dead_letter.payload IS 'The bytes: the record''s block, or the whole frame.';

CREATE TABLE skua.figures (
  at      timestamptz NOT NULL,
  source  text        NOT NULL PRIMARY KEY,
  figures jsonb       NOT NULL
);
COMMENT ON TABLE skua.figures IS 'The latest figures of each running source, for skua status.';
COMMENT ON COLUMN skua.figures.at IS 'When they were taken.';
COMMENT ON COLUMN skua.figures.source IS 'As in skua.cursors.';
COMMENT ON COLUMN skua.figures.figures IS 'Names and values.';

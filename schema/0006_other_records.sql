-- Everything that has no table of its own.

CREATE TABLE bsky.records (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  actor_id       int4 NOT NULL,
  collection_id  int4 NOT NULL,
  cid            bytea NOT NULL,
  record         jsonb NOT NULL,
  invalid_reason text,
  PRIMARY KEY (actor_id, collection_id, rkey)
);
CREATE INDEX records_collection ON bsky.records (collection_id, indexed_at);
COMMENT ON TABLE bsky.records IS 'Records of all other collections, and records that break their lexicon. Nothing of the network is lost.';
COMMENT ON COLUMN bsky.records.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.records.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.records.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.records.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.records.collection_id IS 'Its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.records.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.records.record IS 'The whole record. A NUL in it was removed.';
COMMENT ON COLUMN bsky.records.invalid_reason IS 'Why a record of a collection with a table is here: how it breaks its lexicon.';

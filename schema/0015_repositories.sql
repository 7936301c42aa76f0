-- Where each repository stands, so that what follows can be checked against it.

CREATE TABLE skua.repositories (
  rev          int8,
  broke_at     timestamptz,
  next_attempt timestamptz,
  breaks       int4        NOT NULL DEFAULT 0,
  attempts     int4        NOT NULL DEFAULT 0,
  active       boolean     NOT NULL DEFAULT true,
  did          text        NOT NULL PRIMARY KEY,
  state        text        NOT NULL DEFAULT 'partial'
    CHECK (state IN ('partial', 'complete', 'desynchronized')),
  data         bytea,
  error        text
);
-- What waits for a resync is a small part, and is asked for by time.
CREATE INDEX repositories_due ON skua.repositories (next_attempt) WHERE state = 'desynchronized';
COMMENT ON TABLE skua.repositories IS 'Where each verified repository stands. Saved with the cursor, never ahead of the rows.';
COMMENT ON COLUMN skua.repositories.rev IS 'The newest verified revision (bsky.tid_text gives its text); null: none yet.';
COMMENT ON COLUMN skua.repositories.broke_at IS 'When a message last did not follow the one before it.';
COMMENT ON COLUMN skua.repositories.next_attempt IS 'When a resync is due; null: none is asked for.';
COMMENT ON COLUMN skua.repositories.breaks IS 'How many times a message did not follow the one before it: something in between was missed.';
COMMENT ON COLUMN skua.repositories.attempts IS 'Resyncs that failed since the last one that succeeded.';
COMMENT ON COLUMN skua.repositories.active IS 'Whether what the account signs counts: not while it is taken down or suspended. Of accounts that were deactivated or deleted commits still count, and stay hidden.';
COMMENT ON COLUMN skua.repositories.did IS 'The account.';
COMMENT ON COLUMN skua.repositories.state IS 'partial: followed since it was first seen, its history was never brought in. complete: history and all since. desynchronized: something is missing, a resync is to bring it.';
COMMENT ON COLUMN skua.repositories.data IS 'The root of its tree at rev: the digest of the CID.';
COMMENT ON COLUMN skua.repositories.error IS 'Why the last resync failed; null: it did not.';

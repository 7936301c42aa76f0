-- The head of each repository. The next commit is verified against it.

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
  error        text,
  anchor       int8,
  reason       text
);
-- Few repositories wait for a resync, and they are read by time.
CREATE INDEX repositories_due ON skua.repositories (next_attempt) WHERE state = 'desynchronized';
COMMENT ON TABLE skua.repositories IS 'The head of each verified repository. It is saved with the cursor and is never newer than the rows.';
COMMENT ON COLUMN skua.repositories.rev IS 'The newest verified revision (bsky.tid_text returns its text); null: none yet.';
COMMENT ON COLUMN skua.repositories.broke_at IS 'The time of the last commit that did not follow the stored head.';
COMMENT ON COLUMN skua.repositories.next_attempt IS 'The due time of the resync; null: none is requested.';
COMMENT ON COLUMN skua.repositories.breaks IS 'The number of commits that did not follow the stored head. Each one means that an earlier commit is missing.';
COMMENT ON COLUMN skua.repositories.attempts IS 'The number of failed resyncs since the last successful one.';
COMMENT ON COLUMN skua.repositories.active IS 'False while the account is taken down or suspended: its commits are then dropped. Commits of deactivated and deleted accounts are verified, but their records are hidden.';
COMMENT ON COLUMN skua.repositories.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.repositories.state IS 'partial: all commits since the first one that Skua received, without the records before it. complete: all records, and all commits since. desynchronized: a commit is missing, and a resync will download the repository.';
COMMENT ON COLUMN skua.repositories.data IS 'The root of the tree at rev: the SHA-256 of its CID.';
COMMENT ON COLUMN skua.repositories.error IS 'The error of the last resync; null: it did not fail.';
COMMENT ON COLUMN skua.repositories.anchor IS 'The newest revision that did not follow the stored head, or the first one that Skua received. No commit after it is missing. Null: none was received.';
COMMENT ON COLUMN skua.repositories.reason IS 'The reason of the resync, if it is not a break of the stream; null: no other reason.';

-- Deleted accounts whose rows remain to be deleted, so that an account with many rows does not delay the worker that
-- writes its deletion.

CREATE TABLE skua.purges (
  did       text COLLATE "C" PRIMARY KEY,
  actor_id  int4        NOT NULL,
  floor_rev int8        NOT NULL,
  said_at   timestamptz NOT NULL
);
COMMENT ON TABLE skua.purges IS 'Deleted accounts whose rows remain to be deleted. The worker that writes a deletion deletes the first 5,000 rows of the account. `skua run` deletes the others, and then the row of this table.';
COMMENT ON COLUMN skua.purges.did IS 'The account.';
COMMENT ON COLUMN skua.purges.actor_id IS '`id` in `bsky.actors`.';
COMMENT ON COLUMN skua.purges.floor_rev IS 'Records with this or an earlier revision are deleted.';
COMMENT ON COLUMN skua.purges.said_at IS 'The time of the deletion, by the clock of the host. Labels that the account published until then are deleted.';

INSERT INTO skua.reader_tables VALUES ('purges');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

-- The part of the network that is stored. All processes read it from here. It may change while they run: by `skua filter`,
-- by a file of `skua run`, or by an operator in these tables. functions/filter.sql has the triggers.

CREATE TABLE skua.filter (
  kind  text NOT NULL CHECK (kind IN ('collection', 'did', 'list')),
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, value),
  CHECK (kind <> 'collection' OR (octet_length(value) <= 317
    AND value ~ '^[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)+\.([a-zA-Z][a-zA-Z0-9]*|\*)$')),
  CHECK (kind <> 'did' OR (octet_length(value) <= 2048 AND value ~ '^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$')),
  CONSTRAINT filter_list_check CHECK (kind <> 'list' OR (octet_length(value) <= 2600
    AND value ~ '^at://did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]/app\.bsky\.graph\.list/[a-zA-Z0-9._:~-]+$'))
);
COMMENT ON TABLE skua.filter IS 'The filter: the collections and accounts that are stored. If it has no row of a kind, everything of that kind is stored. You may change it: the change applies when it commits.';
COMMENT ON COLUMN skua.filter.kind IS 'collection: a collection or a prefix. did: an account. list: a list of accounts; the accounts on it and its owner pass.';
COMMENT ON COLUMN skua.filter.value IS 'A collection such as app.bsky.feed.post, a prefix such as app.bsky.graph.*, a DID, or the AT-URI of a list with a DID.';

CREATE TABLE skua.excluded_accounts (
  did         text COLLATE "C" PRIMARY KEY CHECK (octet_length(did) <= 2048 AND did ~ '^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$'),
  excluded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  removed_at  timestamptz
);
COMMENT ON TABLE skua.excluded_accounts IS 'Accounts whose messages are not read and whose repositories are not downloaded. `skua run` removes their rows. You may change it: `skua filter exclude` does.';
COMMENT ON COLUMN skua.excluded_accounts.did IS 'The account.';
COMMENT ON COLUMN skua.excluded_accounts.excluded_at IS 'The time of the exclusion.';
COMMENT ON COLUMN skua.excluded_accounts.removed_at IS 'The time at which its rows were last removed. Null: not yet.';

CREATE TABLE skua.retention (
  collection text COLLATE "C" PRIMARY KEY CHECK (octet_length(collection) <= 317
    AND collection ~ '^[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)+\.[a-zA-Z][a-zA-Z0-9]*$'),
  keep       interval NOT NULL CHECK (extract(epoch FROM keep) BETWEEN 3600 AND 3155760000),
  next_block int8 CHECK (next_block >= 0),
  pass_at    timestamptz,
  removed    int8 NOT NULL DEFAULT 0
);
COMMENT ON TABLE skua.retention IS 'The time for which records of a collection are kept. `skua run` removes older rows. A collection without a row is kept. You may change it: `skua retention` does.';
COMMENT ON COLUMN skua.retention.collection IS 'The collection, such as app.bsky.feed.like.';
COMMENT ON COLUMN skua.retention.keep IS 'The age at which a record is removed: an hour to a hundred years. The age counts from createdAt or from indexed_at, whichever is earlier.';
COMMENT ON COLUMN skua.retention.next_block IS 'The block of the table at which the present pass continues. Null: no pass is under way.';
COMMENT ON COLUMN skua.retention.pass_at IS 'The beginning of the present or the last pass through the table. Null: none has begun.';
COMMENT ON COLUMN skua.retention.removed IS 'The number of rows that were removed so far.';

CREATE TABLE skua.filter_state (
  version     int8        NOT NULL,
  widened     int8        NOT NULL,
  widened_at  timestamptz NOT NULL,
  changed_at  timestamptz NOT NULL,
  only_row    boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  collections text[]      NOT NULL,
  dids        text[]      NOT NULL,
  resync_from text,
  excluded    text[]      NOT NULL DEFAULT '{}',
  retention   jsonb       NOT NULL DEFAULT '{}'
);
INSERT INTO skua.filter_state (version, widened, widened_at, changed_at, collections, dids)
VALUES (1, 0, '-infinity', now(), '{}', '{}');
COMMENT ON TABLE skua.filter_state IS 'The filter, the excluded accounts and the retention in one row, as processes read it, with the number of its last change. Written when a change of skua.filter, skua.excluded_accounts or skua.retention commits.';
COMMENT ON COLUMN skua.filter_state.version IS 'The number of the last change.';
COMMENT ON COLUMN skua.filter_state.widened IS 'The number of the last change that added collections; 0: none did. A repository that was requested before this change is not complete.';
COMMENT ON COLUMN skua.filter_state.widened_at IS 'The time of the change in widened. Processes read the filter every second, so a request within 10 seconds after this time counts as one before it.';
COMMENT ON COLUMN skua.filter_state.changed_at IS 'The time of the last change.';
COMMENT ON COLUMN skua.filter_state.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.filter_state.collections IS 'The collections in skua.filter, sorted.';
COMMENT ON COLUMN skua.filter_state.dids IS 'The accounts in skua.filter and on its lists, and the owners of these lists, sorted.';
COMMENT ON COLUMN skua.filter_state.resync_from IS 'The progress of the resyncs after a change that added collections: complete repositories from this DID on will become desynchronized. Null: no resync is pending.';
COMMENT ON COLUMN skua.filter_state.excluded IS 'The accounts in skua.excluded_accounts, sorted.';
COMMENT ON COLUMN skua.filter_state.retention IS 'skua.retention as an object: seconds by collection.';

-- This is not a column of filter_state: an open transaction that has changed the filter would lock that row.
CREATE TABLE skua.filter_changes (
  changes  int8    NOT NULL,
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row)
);
INSERT INTO skua.filter_changes (changes) VALUES (0);
COMMENT ON TABLE skua.filter_changes IS 'A counter whose trigger updates skua.filter_state when a transaction that changed skua.filter commits.';
COMMENT ON COLUMN skua.filter_changes.changes IS 'The number of statements so far that changed skua.filter.';
COMMENT ON COLUMN skua.filter_changes.only_row IS 'Ensures that the table has one row.';

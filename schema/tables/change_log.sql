-- The change log: every change of the content of records, accounts, handles and labels, in commit order.
-- functions/change_log.sql has the functions that append to it and read it.

CREATE TABLE skua.change_log (
  pos            int8        NOT NULL,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  n              int4        NOT NULL,
  kind           int2[]      NOT NULL,
  op             int2[]      NOT NULL,
  actor_id       int8[]      NOT NULL,
  collection_id  int4[]      NOT NULL,
  rkey           int8[]      NOT NULL,
  rev            int8[]      NOT NULL,
  cid            bytea[]     NOT NULL,
  val            text[],
  ref_change     int4[]      NOT NULL,
  ref_role       int2[]      NOT NULL,
  ref_delta      int2[]      NOT NULL,
  ref_actor      int8[]      NOT NULL,
  ref_collection int4[]      NOT NULL,
  ref_rkey       int8[]      NOT NULL,
  PRIMARY KEY (pos)
) PARTITION BY RANGE (pos);
-- Compression of keys and hashes costs time and saves nothing.
ALTER TABLE skua.change_log
  ALTER kind SET STORAGE EXTERNAL, ALTER op SET STORAGE EXTERNAL, ALTER actor_id SET STORAGE EXTERNAL,
  ALTER collection_id SET STORAGE EXTERNAL, ALTER rkey SET STORAGE EXTERNAL, ALTER rev SET STORAGE EXTERNAL,
  ALTER cid SET STORAGE EXTERNAL, ALTER val SET STORAGE EXTERNAL, ALTER ref_change SET STORAGE EXTERNAL,
  ALTER ref_role SET STORAGE EXTERNAL, ALTER ref_delta SET STORAGE EXTERNAL, ALTER ref_actor SET STORAGE EXTERNAL,
  ALTER ref_collection SET STORAGE EXTERNAL, ALTER ref_rkey SET STORAGE EXTERNAL;
COMMENT ON TABLE skua.change_log IS 'The change log: a row is a block with the changes of one transaction, as parallel arrays. Positions are gapless and in commit order: the next block begins at pos + n. skua.changes and skua.change_references return single changes.';
COMMENT ON COLUMN skua.change_log.pos IS 'The position of the first change of the block.';
COMMENT ON COLUMN skua.change_log.at IS 'The time at which the block was appended, by the server''s clock.';
COMMENT ON COLUMN skua.change_log.n IS 'The number of changes in the block.';
COMMENT ON COLUMN skua.change_log.kind IS '1: a record. 2: the hosting status of an account. 3: the handle of an account. 4: a label. 5: the end of a bootstrap, whose records are not in the log. 6: whether a post breaks rules (bsky.post_rules).';
COMMENT ON COLUMN skua.change_log.op IS '1: create. 2: update. 3: delete.';
COMMENT ON COLUMN skua.change_log.actor_id IS 'The account (bsky.actors.id); of a label its labeler; 0 at the end of a bootstrap.';
COMMENT ON COLUMN skua.change_log.collection_id IS 'The collection of the record (bsky.collections.id); otherwise 0.';
COMMENT ON COLUMN skua.change_log.rkey IS 'The key of the record, as a number; otherwise 0.';
COMMENT ON COLUMN skua.change_log.rev IS 'The revision that brought the change; otherwise 0.';
COMMENT ON COLUMN skua.change_log.cid IS 'SHA-256 of the new version of the record; null after a delete and for other kinds.';
COMMENT ON COLUMN skua.change_log.val IS 'The values of labels; null if the block has no labels.';
COMMENT ON COLUMN skua.change_log.ref_change IS 'References that the changes add or remove: the index of the change in the block, from 0. The six arrays ref_... are parallel.';
COMMENT ON COLUMN skua.change_log.ref_role IS 'The number of the target that the reference counts in. 1: likes. 2: reposts. 3: replies, without those that violate a threadgate. 4: quotes. 5: followers. 6: blocks. 7: items of a list. 8: labels. 11: list items with the account. The target of the next two is the author of the record. 9: posts. 10: followed accounts.';
COMMENT ON COLUMN skua.change_log.ref_delta IS 'The change of the number of references to the target: 1, -1, or 0 if the account has another like, repost, follow or block of the same target, or if a label was updated.';
COMMENT ON COLUMN skua.change_log.ref_actor IS 'The account of the target (bsky.actors.id); 0: the target is the URI of a label (bsky.rkeys).';
COMMENT ON COLUMN skua.change_log.ref_collection IS 'The collection of the target (bsky.collections.id); 0: the target is an account.';
COMMENT ON COLUMN skua.change_log.ref_rkey IS 'The record key of the target, as a number; 0: the target is an account.';

-- Partitions with 16,777,216 positions. skua.make_change_log_partition creates the next ones in the same way.
CREATE TABLE skua.change_log_0 (LIKE skua.change_log INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS);
COMMENT ON TABLE skua.change_log_0 IS 'A part of the change log: positions from 0 on.';
ALTER TABLE skua.change_log ATTACH PARTITION skua.change_log_0 FOR VALUES FROM (0) TO (16777216);
CREATE TABLE skua.change_log_1 (LIKE skua.change_log INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS);
COMMENT ON TABLE skua.change_log_1 IS 'A part of the change log: positions from 16777216 on.';
ALTER TABLE skua.change_log ATTACH PARTITION skua.change_log_1 FOR VALUES FROM (16777216) TO (33554432);

CREATE TABLE skua.change_log_state (
  only_row  boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  timeline  int4        NOT NULL DEFAULT 1,
  since     timestamptz NOT NULL DEFAULT now(),
  retention interval    NOT NULL DEFAULT '3 days' CHECK (retention > interval '0'),
  max_bytes int8        NOT NULL DEFAULT 34359738368 CHECK (max_bytes > 0),
  partition int8        NOT NULL DEFAULT 0,
  database  text        NOT NULL DEFAULT ''
);
INSERT INTO skua.change_log_state DEFAULT VALUES;
COMMENT ON TABLE skua.change_log_state IS 'The timeline and the limits of the change log.';
COMMENT ON COLUMN skua.change_log_state.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.change_log_state.timeline IS 'The number of the history of the log. It rises after a failover and after a restore, which may have lost the last changes. The same position can stand for different changes in different timelines.';
COMMENT ON COLUMN skua.change_log_state.since IS 'The time at which this timeline began.';
COMMENT ON COLUMN skua.change_log_state.retention IS 'The age up to which changes are kept. You may change it: it applies within a minute.';
COMMENT ON COLUMN skua.change_log_state.max_bytes IS 'The maximum size of the log on disk. Beyond it the oldest partitions are dropped, except the newest one. You may change it.';
COMMENT ON COLUMN skua.change_log_state.partition IS 'The number of the partition with the newest block.';
COMMENT ON COLUMN skua.change_log_state.database IS 'The database on this timeline: system identifier, timeline of the WAL, and number of the database.';

-- Moves of groups from a node to another one (ADR 21, `skua nodes move`).
CREATE TABLE skua.group_moves (
  number            int8        NOT NULL PRIMARY KEY,
  left_pos          int8,
  arrived_pos       int8,
  rows              int8        NOT NULL DEFAULT 0,
  begun_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at          timestamptz,
  left_timeline     int4,
  arrived_timeline  int4,
  parts             int4        NOT NULL DEFAULT 0,
  parts_done        int4        NOT NULL DEFAULT 0,
  phase             text        NOT NULL CHECK (phase IN ('leave', 'copy', 'arrive', 'connect', 'clean', 'done', 'return', 'returned')),
  from_node         text        NOT NULL,
  to_node           text        NOT NULL,
  groups            int4[]      NOT NULL,
  cursors           jsonb
);
COMMENT ON TABLE skua.group_moves IS 'The moves of groups between nodes. The query database has all of them. A node has those in which it takes part.';
COMMENT ON COLUMN skua.group_moves.number IS 'The number of the move. The query database counts them.';
COMMENT ON COLUMN skua.group_moves.left_pos IS 'The position in the change log of the node that gives the groups away, after their last change there; null: not known yet.';
COMMENT ON COLUMN skua.group_moves.arrived_pos IS 'The position in the change log of the node that takes the groups, before their first change there; null: not known yet.';
COMMENT ON COLUMN skua.group_moves.rows IS 'The number of rows that were copied so far.';
COMMENT ON COLUMN skua.group_moves.begun_at IS 'The time at which this database began to take part.';
COMMENT ON COLUMN skua.group_moves.ended_at IS 'The time at which the part of this database ended; null: it is under way. A node that takes groups ends when it owns them, and a node that gives them away when it has removed their rows.';
COMMENT ON COLUMN skua.group_moves.left_timeline IS 'The timeline of left_pos.';
COMMENT ON COLUMN skua.group_moves.arrived_timeline IS 'The timeline of arrived_pos.';
COMMENT ON COLUMN skua.group_moves.parts IS 'The number of parts into which the accounts are divided; 0: not known yet. A part is copied, and later removed, in one transaction.';
COMMENT ON COLUMN skua.group_moves.parts_done IS 'The number of parts that are copied to this node, or removed from it.';
COMMENT ON COLUMN skua.group_moves.phase IS 'In the query database, the present step. leave: the node gives the groups away. copy: their rows are copied. arrive: the other node takes them. connect: the query database reads them there. clean: the first node removes its rows. done. return: the move is cancelled, and the first node takes the groups again. returned.';
COMMENT ON COLUMN skua.group_moves.from_node IS 'The node that gives the groups away.';
COMMENT ON COLUMN skua.group_moves.to_node IS 'The node that takes them.';
COMMENT ON COLUMN skua.group_moves.groups IS 'The groups (bsky.account_group), sorted.';
COMMENT ON COLUMN skua.group_moves.cursors IS 'Of the node that gives the groups away: its cursors at that moment (skua.cursors). The other node continues there.';

-- A process that finds another number when it connects discards its state. It then reads its groups again.
ALTER TABLE skua.database_token ADD COLUMN groups_version int8 NOT NULL DEFAULT 0;
COMMENT ON COLUMN skua.database_token.groups_version IS 'Counts the changes of the groups that this database owns after its first events. A process that finds another number when it connects, or when it saves a cursor, discards its state and continues at the stored cursor.';

-- A node may give all its groups away.
ALTER TABLE skua.account_groups DROP CONSTRAINT account_groups_owned_check,
  ADD CONSTRAINT account_groups_owned_check CHECK (owned <@ ARRAY[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]);
COMMENT ON TABLE skua.account_groups IS 'The groups of accounts that this database stores. `skua run --groups` sets them in a new database, and `skua nodes move` changes those of a node. Do not change the row: the program reads it when it starts.';

-- The sums of a projection over the nodes are right if both nodes of a move count the moved records in the same way.
ALTER TABLE skua.consumer_lanes
  ADD COLUMN counted_moves int8[] NOT NULL DEFAULT '{}',
  ADD COLUMN built_during_move boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN skua.consumer_lanes.counted_moves IS 'Of a projection on a node: the moves of groups (skua.group_moves) that had ended there when its tables were built.';
COMMENT ON COLUMN skua.consumer_lanes.built_during_move IS 'True if the tables of a projection were built while a move of groups was under way, so that they may have a part of the moved records. It needs a rebuild.';

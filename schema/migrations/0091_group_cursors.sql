-- After a move of groups, a node reads a part of the stream again that some of its groups need no more (ADR 21).
CREATE TABLE skua.group_cursors (
  cursor         int8  NOT NULL,
  account_group  int4  NOT NULL,
  source         text  NOT NULL REFERENCES skua.cursors ON DELETE CASCADE,
  PRIMARY KEY (source, account_group)
);
COMMENT ON TABLE skua.group_cursors IS 'Groups of accounts that are ahead of the cursor of a source, because a move of other groups set the cursor back. The row ends when the cursor has come there.';
COMMENT ON COLUMN skua.group_cursors.cursor IS 'All events of the group up to this cursor are in the tables, so they are dropped.';
COMMENT ON COLUMN skua.group_cursors.account_group IS 'The group (bsky.account_group).';
COMMENT ON COLUMN skua.group_cursors.source IS 'The source (skua.cursors.source).';

COMMENT ON COLUMN skua.group_moves.cursors IS 'Of the node that gives the groups away: its cursors at that moment (skua.cursors), and in `ahead` those of the groups that are ahead of them (skua.group_cursors). The other node continues there.';

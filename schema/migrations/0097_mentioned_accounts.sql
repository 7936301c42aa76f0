-- A list of accounts costs less than a row of skua.waiting_references for each account (ADR 19). A list is not compressed, because
-- DIDs have little in common, and stays in its page.
CREATE TABLE skua.mentioned_accounts (
  seq  int8   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dids text[] NOT NULL
) WITH (toast_tuple_target = 8160);
COMMENT ON TABLE skua.mentioned_accounts IS 'Lists of accounts of other nodes that records of this node mention for the first time, until `skua run` has sent them to the nodes that own the accounts. Empty in a database that is no node.';
COMMENT ON COLUMN skua.mentioned_accounts.seq IS 'The order in which the lists are sent.';
COMMENT ON COLUMN skua.mentioned_accounts.dids IS 'The DIDs of at most 200 accounts. They can have different nodes.';
COMMENT ON TABLE skua.waiting_references IS 'The record keys of other nodes that records of this node mention, and the accounts of skua.mentioned_accounts that their nodes did not take, until `skua run` has sent them. Empty in a database that is no node.';

-- The nodes of a network compute account numbers from DIDs with a common key (ADR 19). A computed number has 57 bits below its group.
CREATE TABLE skua.number_key (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  key      bytea   NOT NULL CHECK (octet_length(key) = 32)
);
COMMENT ON TABLE skua.number_key IS 'The key from which the nodes of a network compute account numbers and collection numbers. It has no row in a database that is no node. Readers must not see it: with it one can choose DIDs that have the same number.';
COMMENT ON COLUMN skua.number_key.only_row IS 'Ensures that the table has at most one row.';
COMMENT ON COLUMN skua.number_key.key IS '32 random bytes, the same in all databases of the network.';

ALTER TABLE skua.account_groups
  ADD COLUMN group_shift int4 NOT NULL DEFAULT 46 CHECK (group_shift IN (46, 57)),
  ADD CHECK (numbers_have_group OR group_shift = 46);
COMMENT ON COLUMN skua.account_groups.group_shift IS 'The number of bits of an account number below its group: 46 if numbers come from a sequence, 57 if they are computed from DIDs (skua.number_key).';
COMMENT ON COLUMN skua.account_groups.numbers_have_group IS 'True if the bits of account numbers from group_shift on are the group of the account. False in databases that had accounts before this was introduced.';
COMMENT ON COLUMN bsky.actors.id IS 'The account number. It differs between databases, except for the nodes of a network. If skua.account_groups.numbers_have_group is true, its bits from skua.account_groups.group_shift on are the group of the account.';

-- The nodes of a network (`skua nodes`).
CREATE TABLE skua.nodes (
  name  text   NOT NULL PRIMARY KEY,
  url   text   NOT NULL,
  owned int4[] NOT NULL
);
COMMENT ON TABLE skua.nodes IS 'The nodes of the network, in its query database and on each node. `skua nodes` changes it. Readers must not see it, because addresses may contain passwords.';
COMMENT ON COLUMN skua.nodes.name IS 'The name of the node.';
COMMENT ON COLUMN skua.nodes.url IS 'The address of the database of the node.';
COMMENT ON COLUMN skua.nodes.owned IS 'The groups that the node owns (bsky.account_group), sorted.';

-- The accounts and record keys of other nodes that records of this node mention. Their nodes need them, so that a number leads
-- to its text in one place.
CREATE TABLE skua.waiting_references (
  seq           int8 GENERATED ALWAYS AS IDENTITY,
  actor_id      int8,
  rkey          int8,
  account_group int4 NOT NULL,
  collection_id int4,
  text          text NOT NULL,
  PRIMARY KEY (account_group, seq)
);
COMMENT ON TABLE skua.waiting_references IS 'The accounts and record keys of other nodes that records of this node mention, until `skua run` has sent them to the nodes that own the accounts. Empty in a database that is no node.';
COMMENT ON COLUMN skua.waiting_references.seq IS 'The order in which they are sent.';
COMMENT ON COLUMN skua.waiting_references.actor_id IS 'The account of a record key (bsky.actors.id); 0: text is the URI of a label; null: text is the DID of an account.';
COMMENT ON COLUMN skua.waiting_references.rkey IS 'The number of a record key (bsky.rkeys.rkey).';
COMMENT ON COLUMN skua.waiting_references.account_group IS 'The group of the account, which determines the node; 0 for the URIs of labels.';
COMMENT ON COLUMN skua.waiting_references.collection_id IS 'The collection of a record key (bsky.collections.id); 0: text is the URI of a label.';
COMMENT ON COLUMN skua.waiting_references.text IS 'A DID, the text of a record key, or a URI.';

-- The groups of accounts of a database (ADR 18). Numbers of accounts carry their group from now on, if the database has none yet.
-- Otherwise all its numbers stay plain, because two schemes in one database would make each range of numbers ambiguous.
CREATE TABLE skua.account_groups (
  only_row           boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  numbers_have_group boolean NOT NULL,
  owned              int4[]  NOT NULL CHECK (cardinality(owned) > 0 AND owned <@ ARRAY[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]),
  CHECK (numbers_have_group OR cardinality(owned) = 64)
);
INSERT INTO skua.account_groups (numbers_have_group, owned)
SELECT NOT EXISTS (SELECT 1 FROM bsky.actors), ARRAY(SELECT g FROM generate_series(0, 63) AS g);
COMMENT ON TABLE skua.account_groups IS 'The groups of accounts that this database stores. `skua run --groups` sets them in a new database. Do not change the row: the program reads it when it starts.';
COMMENT ON COLUMN skua.account_groups.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.account_groups.numbers_have_group IS 'True if the bits of account numbers from 2^46 on are the group of the account. False in databases that had accounts before this was introduced.';
COMMENT ON COLUMN skua.account_groups.owned IS 'The groups (bsky.account_group), sorted. Messages and repositories of accounts of other groups are not stored.';

-- The rest of a number below its group.
ALTER SEQUENCE bsky.actors_id_seq MAXVALUE 70368744177663;
COMMENT ON COLUMN bsky.actors.id IS 'The account number. It differs between databases. If skua.account_groups.numbers_have_group is true, its bits from 2^46 on are the group of the account.';

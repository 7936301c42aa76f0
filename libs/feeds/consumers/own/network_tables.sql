-- name: joined_other
-- The projection that has a table of this name, if it is another one.
SELECT projection FROM skua.network_tables WHERE name = $1::text AND projection <> $2::text;

-- name: joined_drop_tables
-- Drops the views of a projection, except those of the tables $2.
SELECT skua.drop_network_table(name)
FROM skua.network_tables
WHERE projection = $1::text AND name <> ALL ($2::text[]);

-- name: joined_show
-- $5 are the columns of the key; none: the table has rows, and no sums.
SELECT skua.join_table($1::text, $2::text, $3::text, $4::text, nullif($5::text[], '{}'));

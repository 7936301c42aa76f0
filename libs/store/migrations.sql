-- name: migrations_have_table
SELECT to_regclass('skua.migrations') IS NOT NULL;

-- name: migrations_read
SELECT version, name, checksum FROM skua.migrations;

-- name: migrations_record
INSERT INTO skua.migrations (version, name, checksum) VALUES ($1::int4, $2::text, $3::text);

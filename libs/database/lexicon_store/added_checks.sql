-- name: lexicons_version
SELECT version FROM skua.lexicon_state;

-- name: lexicons_documents
SELECT nsid, document::text FROM skua.lexicons ORDER BY nsid;

-- name: lexicon_index_names
SELECT c.relname
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid = 'bsky.records'::regclass AND starts_with(c.relname, $1::text)
ORDER BY 1;

-- name: lexicon_index_is_valid
SELECT i.indisvalid
FROM pg_index AS i
WHERE i.indexrelid = to_regclass('bsky.' || quote_ident($1::text));

-- name: lexicon_index_create
-- Returns the text of the statement that creates the index.
SELECT
  format(
    'CREATE INDEX CONCURRENTLY %I ON bsky.records USING %s (%s) WHERE collection_id = %s', $1::text, $2::text,
    skua.lexicon_expression($3::text, $4::text) || $5::text, $6::int4);

-- name: lexicon_index_analyze
ANALYZE bsky.records;

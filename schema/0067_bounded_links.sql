-- The index of `skua index add backlinks` is written in the transaction of a record: a record with 34,000 links delayed
-- the records of others. Rows that are indexed already keep their links.
CREATE OR REPLACE FUNCTION bsky.record_links(record jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT first.value), '{}') FROM (
    SELECT s.value #>> '{}' AS value
    FROM jsonb_path_query(record, 'strict $.** ? (@.type() == "string" && (@ starts with "at://" || @ starts with "did:"))') AS s(value)
    -- PostgreSQL does not index longer values.
    WHERE octet_length(s.value #>> '{}') <= 2000
    LIMIT 1000
  ) AS first
$$;
COMMENT ON FUNCTION bsky.record_links(jsonb) IS 'The first 1,000 AT-URIs and DIDs anywhere in a record. The index of `skua index add backlinks` has them.';

-- The order of records by time. Indexes of the tables call these functions.

-- The author chooses the record key and createdAt. Clients set both to the current time, so that records of an account are
-- nearly in the order of their keys, which is that of the primary key. Imported posts and wrong clocks are the exceptions. A
-- minute allows for a difference between the clocks of the client and of the PDS.
CREATE OR REPLACE FUNCTION bsky.is_in_key_order(rkey int8, sort_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rkey >= 0 AND abs(date_part('epoch', sort_at - to_timestamp((rkey >> 10) / 1000000::float8))) <= 60
$$;
COMMENT ON FUNCTION bsky.is_in_key_order(int8, timestamptz) IS 'True if sort_at of a record is within a minute of the time in its key. Partial indexes have the posts and reposts for which it is false.';

CREATE OR REPLACE FUNCTION bsky.tid_at(at timestamptz) RETURNS int8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN at < timestamptz '1970-01-01 00:00Z' THEN 0::int8
              WHEN at < timestamptz '2200-01-01 00:00Z' THEN (date_part('epoch', at - timestamptz '1970-01-01 00:00Z') * 1000000)::int8 << 10
              ELSE 9000000000000000000 END
$$;
COMMENT ON FUNCTION bsky.tid_at(timestamptz) IS 'The number of the first timestamp identifier of a time, for comparisons with record keys. A time before 1970 gives 0, and one after 2199 a larger number than all others.';

-- PL/pgSQL: the planner does not replace the call, so that a query plans both cases and runs one.
CREATE OR REPLACE FUNCTION skua.has_index(index_name text) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF skua.is_query_database() THEN
    RETURN skua.nodes_without_index(index_name) = '{}';
  END IF;
  RETURN EXISTS (SELECT FROM pg_index AS i WHERE i.indexrelid = to_regclass('bsky.' || index_name) AND i.indisvalid);
END
$$;
COMMENT ON FUNCTION skua.has_index(text) IS 'True if an optional index of schema bsky exists and is complete; in a query database, on each node.';

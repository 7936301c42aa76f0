-- Values of records: times, properties in JSON, and links.

-- The text has milliseconds, as most clients write it, or microseconds if the time is finer.
CREATE OR REPLACE FUNCTION bsky.time_text(at timestamptz) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  utc timestamp := at AT TIME ZONE 'UTC';
BEGIN
  RETURN CASE WHEN extract(year FROM utc) < 0 THEN '0000' ELSE to_char(utc, 'YYYY') END
    || to_char(utc, CASE WHEN utc = date_trunc('milliseconds', utc) THEN '-MM-DD"T"HH24:MI:SS.MS"Z"'
                         ELSE '-MM-DD"T"HH24:MI:SS.US"Z"' END);
END
$$;
COMMENT ON FUNCTION bsky.time_text(timestamptz) IS 'A time as a datetime of the AT Protocol, in UTC.';

-- The following functions return null for a wrong value and never fail. The reason is that records may be stored without a
-- check, and a condition of a query may be evaluated before the conditions of a view.
CREATE OR REPLACE FUNCTION bsky.text_value(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'string' THEN value #>> '{}' END
$$;
COMMENT ON FUNCTION bsky.text_value(jsonb) IS 'The text of a JSON string. Null for any other value.';

CREATE OR REPLACE FUNCTION bsky.integer_value(value jsonb) RETURNS int8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'number' THEN
    CASE WHEN value::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 AND value::numeric = trunc(value::numeric) THEN value::int8 END
  END
$$;
COMMENT ON FUNCTION bsky.integer_value(jsonb) IS 'The value of a JSON number that is a 64-bit integer. Null for any other value.';

CREATE OR REPLACE FUNCTION bsky.boolean_value(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'boolean' THEN value::boolean END
$$;
COMMENT ON FUNCTION bsky.boolean_value(jsonb) IS 'The value of a JSON boolean. Null for any other value.';

-- The function is immutable: a datetime has an offset, so the result depends on no setting. The limits are those of createdAt
-- in the tables (libs/foundation/records/field_reader.cpp).
CREATE OR REPLACE FUNCTION bsky.datetime_value(value jsonb) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  datetime CONSTANT text := bsky.text_value(value);
BEGIN
  IF datetime ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,20})?(Z|[+-]\d\d:\d\d)$' THEN
    RETURN greatest(least(datetime::timestamptz, '9999-12-30 00:00Z'), '0001-01-02 00:00Z');
  END IF;
  RETURN NULL;
EXCEPTION
  WHEN data_exception THEN
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION bsky.datetime_value(jsonb) IS 'The time of a JSON string with a datetime of the AT Protocol. Null for any other value, and for a time that PostgreSQL cannot represent. Times before 0001-01-02 and after 9999-12-30 become these.';

-- The index of `skua index add backlinks` is written in the transaction of a record. Without a limit a record with 34,000
-- links delays the records of others.
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

CREATE OR REPLACE FUNCTION bsky.record_path(record jsonb, target text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  WITH RECURSIVE v(path, value) AS (
    SELECT '', record
    UNION ALL
    SELECT v.path || c.step, c.value FROM v CROSS JOIN LATERAL (
      SELECT CASE WHEN v.path = '' THEN '' ELSE '.' END || o.key AS step, o.value
      FROM jsonb_each(CASE WHEN jsonb_typeof(v.value) = 'object' THEN v.value END) AS o
      UNION ALL
      SELECT '[' || e.place - 1 || ']', e.value
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(v.value) = 'array' THEN v.value END) WITH ORDINALITY AS e(value, place)
    ) AS c
  )
  SELECT min(v.path) FROM v WHERE v.value = to_jsonb(target)
$$;
COMMENT ON FUNCTION bsky.record_path(jsonb, text) IS 'The path of the first field of a record that has this text, such as subject.uri or items[0].ref; null if there is none.';

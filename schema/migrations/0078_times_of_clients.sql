-- createdAt before year 1 and at the end of year 9999: the column has the nearest time that common clients of PostgreSQL can
-- represent, and extra the text, as the writer stores new records. Year 0000 of a record is 1 BC in PostgreSQL.
DO $$
DECLARE
  records text;
BEGIN
  FOR records IN SELECT r.name FROM skua.record_tables AS r LOOP
    EXECUTE format($update$
      UPDATE bsky.%I AS t
      SET created_at = CASE WHEN t.created_at < now() THEN timestamptz '0001-01-02 00:00Z' ELSE timestamptz '9999-12-30 00:00Z' END,
          extra = jsonb_build_object('createdAt',
            CASE WHEN utc.at < timestamp '0001-01-01 00:00' THEN '0000' ELSE to_char(utc.at, 'YYYY') END
              || to_char(utc.at, CASE WHEN utc.at = date_trunc('milliseconds', utc.at) THEN '-MM-DD"T"HH24:MI:SS.MS"Z"'
                                      ELSE '-MM-DD"T"HH24:MI:SS.US"Z"' END)) || coalesce(t.extra, '{}')
      FROM bsky.%1$I AS s CROSS JOIN LATERAL (SELECT s.created_at AT TIME ZONE 'UTC') AS utc(at)
      WHERE (s.created_at < timestamptz '0001-01-02 00:00Z' OR s.created_at > timestamptz '9999-12-30 00:00Z')
        AND t.actor_id = s.actor_id AND t.rkey = s.rkey
      $update$, records);
  END LOOP;
END
$$;

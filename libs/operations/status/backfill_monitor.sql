-- name: backfill_metrics
-- A process works as long as it has a session. The name of the session is in the metrics of the process. A standby does not
-- see the sessions of its primary.
SELECT f.metrics::text, extract(epoch FROM now() - f.at)::float8,
  pg_is_in_recovery() OR EXISTS (
    SELECT 1
    FROM pg_stat_activity AS s
    WHERE s.datname = current_database() AND s.application_name = f.metrics ->> 'lease_owner'
  )
FROM skua.metrics AS f
WHERE f.source = $1;

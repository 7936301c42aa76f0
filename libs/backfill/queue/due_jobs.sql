-- name: backfill_jobs_running
SELECT j.did
FROM unnest($1::text[]) AS u(did)
JOIN skua.backfill_jobs AS j ON j.did = u.did
WHERE j.state = 'running';

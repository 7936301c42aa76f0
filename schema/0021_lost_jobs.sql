-- A process that is killed takes many jobs along, of which one at most is to blame: that is counted apart
-- from attempts that failed.

ALTER TABLE skua.backfill_jobs ADD COLUMN lost int4 NOT NULL DEFAULT 0;
COMMENT ON COLUMN skua.backfill_jobs.lost IS 'How often in a row its process ended, or stopped renewing its lease, while it had the repository.';

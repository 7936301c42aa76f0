-- A job may be taken from its holder and claimed again, by another or by the same: each claim has a number,
-- so that what an earlier one still has under way is not taken for its successor's. And what could not be
-- had is tried again by itself, after days.

ALTER TABLE skua.backfill_jobs
  ADD COLUMN claim   int8 NOT NULL DEFAULT 0,
  ADD COLUMN retries int4 NOT NULL DEFAULT 0;
UPDATE skua.backfill_jobs SET next_attempt = now() + (1 + 6 * random()) * interval '1 day'
  WHERE state IN ('unavailable', 'failed') AND file IS NULL;
CREATE INDEX backfill_jobs_rare ON skua.backfill_jobs (next_attempt)
  WHERE state IN ('unavailable', 'failed') AND file IS NULL;
COMMENT ON COLUMN skua.backfill_jobs.claim IS 'How often it was claimed: the number of the last claim. Chunks are written only while it is theirs.';
COMMENT ON COLUMN skua.backfill_jobs.retries IS 'How often it was queued again by itself since it was asked for, after it had been unavailable or failed.';
COMMENT ON COLUMN skua.backfill_jobs.next_attempt IS 'When it is due, or was; of an unavailable or failed one: when it is tried again by itself.';
COMMENT ON COLUMN skua.backfill_jobs.state IS 'queued: waits until next_attempt. running. done. unavailable: its host says that it has none to give. failed: given up after too many attempts. Both are tried again after days, or when the account becomes active. cancelled: by hand.';

-- A list can be cancelled, as a job can.

ALTER TABLE skua.backfill_hosts DROP CONSTRAINT backfill_hosts_state_check;
ALTER TABLE skua.backfill_hosts ADD CONSTRAINT backfill_hosts_state_check
  CHECK (state IN ('none', 'listing', 'listed', 'failed', 'cancelled'));
COMMENT ON COLUMN skua.backfill_hosts.state IS 'none: not begun. listing: begun. listed: read to its end. failed: given up after too many attempts. cancelled: by `skua backfill cancel`.';

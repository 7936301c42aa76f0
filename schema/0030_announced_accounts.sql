-- Whoever serves a list can name accounts without end: how many are taken follows from how many a relay
-- says that the host has.

ALTER TABLE skua.backfill_hosts ADD COLUMN announced int8;
COMMENT ON COLUMN skua.backfill_hosts.announced IS 'How many accounts a relay says that the host has; null: nobody says.';

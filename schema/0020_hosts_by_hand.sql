-- A list that goes on after a restart, and the repositories that it names, are asked for as at first:
-- who types http://localhost:2583 means it, the network may not lead there.

ALTER TABLE skua.backfill_hosts ADD COLUMN by_hand boolean NOT NULL DEFAULT false;
CREATE INDEX backfill_hosts_by_hand ON skua.backfill_hosts (host) WHERE by_hand;
COMMENT ON COLUMN skua.backfill_hosts.by_hand IS 'Named by the person who runs this, who may mean a private address, and not by a list.';

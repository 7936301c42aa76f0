-- When a list was begun: a list of hosts that is read again has the hosts' own lists read again, once each.

ALTER TABLE skua.backfill_hosts ADD COLUMN begun_at timestamptz NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN skua.backfill_hosts.begun_at IS 'When it was asked for last, from its beginning. A list that a list of hosts names begins anew if it was read to its end, or given up, and had begun before that list.';

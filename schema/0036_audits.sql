-- Audits read the lists of hosts apart from backfills.

COMMENT ON COLUMN skua.backfill_hosts.what IS 'For what: repos (all that it hosts), hosts (those that a relay knows), or collection:NSID (those that use it). audit:hosts and audit:repos are the same for an audit of `skua run`, which compares revisions and queues no backfill.';

-- Downloads of whole repositories, and the lists that name them. A job keeps its row, and the whole network has tens of
-- millions. Therefore all reads use small partial indexes: of the jobs that wait, run or have failed.

CREATE TABLE skua.backfill_jobs (
  since        int8,
  rev          int8,
  records      int8,
  bytes        int8,
  created_at   timestamptz NOT NULL,
  next_attempt timestamptz NOT NULL,
  lease_until  timestamptz,
  finished_at  timestamptz,
  attempts     int4        NOT NULL DEFAULT 0,
  did          text        NOT NULL PRIMARY KEY,
  state        text        NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'done', 'unavailable', 'failed', 'cancelled')),
  host         text,
  file         text,
  lease_owner  text,
  error        text,
  lost         int4        NOT NULL DEFAULT 0,
  lease_number int8        NOT NULL DEFAULT 0,
  retries      int4        NOT NULL DEFAULT 0,
  CHECK ((state = 'running') = (lease_until IS NOT NULL AND lease_owner IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Jobs are leased in this order: those of each host, those whose host is not known yet, and those of files.
CREATE INDEX backfill_jobs_due ON skua.backfill_jobs (host, next_attempt)
  WHERE state = 'queued' AND file IS NULL AND host IS NOT NULL;
CREATE INDEX backfill_jobs_homeless ON skua.backfill_jobs (next_attempt)
  WHERE state = 'queued' AND file IS NULL AND host IS NULL;
CREATE INDEX backfill_jobs_files ON skua.backfill_jobs (next_attempt)
  WHERE state = 'queued' AND file IS NOT NULL;
CREATE INDEX backfill_jobs_running ON skua.backfill_jobs (lease_until) WHERE state = 'running';
CREATE INDEX backfill_jobs_errors ON skua.backfill_jobs (state, finished_at) WHERE error IS NOT NULL;
CREATE INDEX backfill_jobs_rare ON skua.backfill_jobs (next_attempt)
  WHERE state IN ('unavailable', 'failed') AND file IS NULL;
COMMENT ON TABLE skua.backfill_jobs IS 'Jobs: repositories that are downloaded as a whole. A row stays after its job has ended.';
COMMENT ON COLUMN skua.backfill_jobs.since IS 'The host is asked only for changes after this revision (bsky.tid_text returns its text); null: for the whole repository.';
COMMENT ON COLUMN skua.backfill_jobs.rev IS 'The revision that the last finished job reached; null: no job has finished.';
COMMENT ON COLUMN skua.backfill_jobs.records IS 'The number of records in the last finished job.';
COMMENT ON COLUMN skua.backfill_jobs.bytes IS 'The size of the CAR of the last finished job.';
COMMENT ON COLUMN skua.backfill_jobs.created_at IS 'The time of the first request for the repository.';
COMMENT ON COLUMN skua.backfill_jobs.next_attempt IS 'The due time of the next attempt.';
COMMENT ON COLUMN skua.backfill_jobs.lease_until IS 'The end of the lease of a running job. After that another process may lease the job.';
COMMENT ON COLUMN skua.backfill_jobs.finished_at IS 'The time at which the last attempt ended, with or without success.';
COMMENT ON COLUMN skua.backfill_jobs.attempts IS 'The number of attempts since the request. Waits that the host asked for do not count.';
COMMENT ON COLUMN skua.backfill_jobs.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.backfill_jobs.state IS 'queued: waits until next_attempt. running: a process has leased it. done: the records are stored. unavailable: the host states that it has no such repository. failed: the maximum number of attempts was reached. cancelled: by `skua backfill cancel`.';
COMMENT ON COLUMN skua.backfill_jobs.host IS 'The host of the repository, such as https://pds.example; null: not known yet.';
COMMENT ON COLUMN skua.backfill_jobs.file IS 'The CAR file that is read instead of a download; null: none.';
COMMENT ON COLUMN skua.backfill_jobs.lease_owner IS 'The process that runs the job: the application_name of its database session.';
COMMENT ON COLUMN skua.backfill_jobs.error IS 'The error of the last attempt, or the reason why the repository is unavailable; null: no error.';
COMMENT ON COLUMN skua.backfill_jobs.lost IS 'The number of leases in succession that ended without a result, because the process ended or did not renew the lease.';
COMMENT ON COLUMN skua.backfill_jobs.lease_number IS 'The number of leases of this job so far. Chunks are written only under the last lease.';
COMMENT ON COLUMN skua.backfill_jobs.retries IS 'The number of times that Skua queued the job again after it was unavailable or failed, since the last request.';

CREATE TABLE skua.backfill_hosts (
  listed       int8        NOT NULL DEFAULT 0,
  next_attempt timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  attempts     int4        NOT NULL DEFAULT 0,
  host         text        NOT NULL,
  what         text        NOT NULL,
  state        text        NOT NULL DEFAULT 'none'
    CHECK (state IN ('none', 'listing', 'listed', 'failed', 'cancelled')),
  cursor       text,
  lease_owner  text,
  error        text,
  is_operator_specified boolean NOT NULL DEFAULT false,
  announced    int8,
  begun_at     timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (host, what)
);
CREATE INDEX backfill_hosts_due ON skua.backfill_hosts (next_attempt) WHERE state IN ('none', 'listing');
CREATE INDEX backfill_hosts_operator_specified ON skua.backfill_hosts (host) WHERE is_operator_specified;
COMMENT ON TABLE skua.backfill_hosts IS 'Lists that hosts return page by page: their repositories, or the hosts that a relay knows.';
COMMENT ON COLUMN skua.backfill_hosts.listed IS 'The number of entries in the pages so far.';
COMMENT ON COLUMN skua.backfill_hosts.next_attempt IS 'The due time of the next page. While a process reads the list: the end of its lease.';
COMMENT ON COLUMN skua.backfill_hosts.updated_at IS 'The time at which a page was last read, or failed.';
COMMENT ON COLUMN skua.backfill_hosts.attempts IS 'The number of failures since the last page.';
COMMENT ON COLUMN skua.backfill_hosts.host IS 'The address of the host, such as https://pds.example.';
COMMENT ON COLUMN skua.backfill_hosts.what IS 'The kind of list: repos (all that the host has), hosts (all that the relay knows), collection:NSID (accounts with records of it); of audits audit:hosts and audit:repos.';
COMMENT ON COLUMN skua.backfill_hosts.state IS 'none: not begun. listing: begun. listed: read to its end. failed: the maximum number of attempts was reached.';
COMMENT ON COLUMN skua.backfill_hosts.cursor IS 'The host''s cursor of the next page; null: the first page.';
COMMENT ON COLUMN skua.backfill_hosts.lease_owner IS 'The process that reads the list: the application_name of its database session; null: none.';
COMMENT ON COLUMN skua.backfill_hosts.error IS 'The error of the last page; null: it did not fail.';
COMMENT ON COLUMN skua.backfill_hosts.is_operator_specified IS 'True if the operator named the host, false if only a list contains it. The former may have a private address.';
COMMENT ON COLUMN skua.backfill_hosts.announced IS 'The number of accounts of the host, as the relay states it; null: not stated.';
COMMENT ON COLUMN skua.backfill_hosts.begun_at IS 'The time at which the list was last requested from its first page. If a list of hosts contains the host, this list restarts, provided that it has ended and that it began before the list of hosts.';

CREATE TABLE skua.dropped_indexes (
  dropped_at timestamptz NOT NULL DEFAULT now(),
  name       text        NOT NULL PRIMARY KEY,
  relation   text        NOT NULL,
  definition text        NOT NULL
);
COMMENT ON TABLE skua.dropped_indexes IS 'Indexes that a bootstrap has dropped. The bootstrap is open while the table has rows.';
COMMENT ON COLUMN skua.dropped_indexes.dropped_at IS 'The time at which the index was dropped.';
COMMENT ON COLUMN skua.dropped_indexes.name IS 'The name of the index, with its schema.';
COMMENT ON COLUMN skua.dropped_indexes.relation IS 'The name of the table, with its schema.';
COMMENT ON COLUMN skua.dropped_indexes.definition IS 'The statement that builds it again.';

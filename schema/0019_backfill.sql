-- What is to be brought in as a whole, and the lists that say what there is. A job is a row for good:
-- with the whole network that is tens of millions, so that everything is asked for through small
-- indexes of what waits, runs or went wrong.

CREATE TABLE skua.backfill_jobs (
  since        int8,
  rev          int8,
  records      int8,
  bytes        int8,
  created_at   timestamptz NOT NULL,
  next_attempt timestamptz NOT NULL,
  lease        timestamptz,
  finished_at  timestamptz,
  attempts     int4        NOT NULL DEFAULT 0,
  did          text        NOT NULL PRIMARY KEY,
  state        text        NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'done', 'unavailable', 'failed', 'cancelled')),
  host         text,
  file         text,
  holder       text,
  error        text,
  CHECK ((state = 'running') = (lease IS NOT NULL AND holder IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- In the order in which they are taken: each host's on its own, those whose host is to be found, files.
CREATE INDEX backfill_jobs_due ON skua.backfill_jobs (host, next_attempt)
  WHERE state = 'queued' AND file IS NULL AND host IS NOT NULL;
CREATE INDEX backfill_jobs_homeless ON skua.backfill_jobs (next_attempt)
  WHERE state = 'queued' AND file IS NULL AND host IS NULL;
CREATE INDEX backfill_jobs_files ON skua.backfill_jobs (next_attempt)
  WHERE state = 'queued' AND file IS NOT NULL;
-- Never many: what is under way.
CREATE INDEX backfill_jobs_running ON skua.backfill_jobs (lease) WHERE state = 'running';
CREATE INDEX backfill_jobs_errors ON skua.backfill_jobs (state, finished_at) WHERE error IS NOT NULL;
COMMENT ON TABLE skua.backfill_jobs IS 'Repositories that were asked for as a whole: what is still to do, what is under way, and what came of the others.';
COMMENT ON COLUMN skua.backfill_jobs.since IS 'The revision after which the host is asked for changes only (bsky.tid_text gives its text); null: the whole.';
COMMENT ON COLUMN skua.backfill_jobs.rev IS 'The revision up to which a finished job brought the repository; null: none did.';
COMMENT ON COLUMN skua.backfill_jobs.records IS 'Records that the last finished job read.';
COMMENT ON COLUMN skua.backfill_jobs.bytes IS 'Bytes of the CAR that it read.';
COMMENT ON COLUMN skua.backfill_jobs.created_at IS 'When it was first asked for.';
COMMENT ON COLUMN skua.backfill_jobs.next_attempt IS 'When it is due, or was.';
COMMENT ON COLUMN skua.backfill_jobs.lease IS 'Of a running job: until when its holder has it. Not renewed, it is given to another.';
COMMENT ON COLUMN skua.backfill_jobs.finished_at IS 'When its last attempt ended, well or not.';
COMMENT ON COLUMN skua.backfill_jobs.attempts IS 'How often it was begun since it was asked for, waits that the host asked for left out.';
COMMENT ON COLUMN skua.backfill_jobs.did IS 'The account.';
COMMENT ON COLUMN skua.backfill_jobs.state IS 'queued: waits until next_attempt. running. done. unavailable: its host says for good that it has none to give. failed: given up after too many attempts. cancelled: by hand.';
COMMENT ON COLUMN skua.backfill_jobs.host IS 'Where it is fetched from, such as https://pds.example; null: not known yet.';
COMMENT ON COLUMN skua.backfill_jobs.file IS 'The CAR file that is read instead; null: none.';
COMMENT ON COLUMN skua.backfill_jobs.holder IS 'Of a running job: who has it, by the application_name of its database session.';
COMMENT ON COLUMN skua.backfill_jobs.error IS 'Why the last attempt failed, or why there is nothing to fetch; null: it did not.';

CREATE TABLE skua.backfill_hosts (
  listed       int8        NOT NULL DEFAULT 0,
  next_attempt timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  attempts     int4        NOT NULL DEFAULT 0,
  host         text        NOT NULL,
  what         text        NOT NULL,
  state        text        NOT NULL DEFAULT 'none'
    CHECK (state IN ('none', 'listing', 'listed', 'failed')),
  cursor       text,
  holder       text,
  error        text,
  PRIMARY KEY (host, what)
);
CREATE INDEX backfill_hosts_due ON skua.backfill_hosts (next_attempt) WHERE state IN ('none', 'listing');
COMMENT ON TABLE skua.backfill_hosts IS 'Lists that hosts are asked for page by page to find repositories, and how far each was read.';
COMMENT ON COLUMN skua.backfill_hosts.listed IS 'How many entries its pages had so far.';
COMMENT ON COLUMN skua.backfill_hosts.next_attempt IS 'When the next page is due; while somebody reads it: when another may go on in its place.';
COMMENT ON COLUMN skua.backfill_hosts.updated_at IS 'When a page was last read, or failed.';
COMMENT ON COLUMN skua.backfill_hosts.attempts IS 'Failures since the last page that was read.';
COMMENT ON COLUMN skua.backfill_hosts.host IS 'Who is asked, such as https://pds.example.';
COMMENT ON COLUMN skua.backfill_hosts.what IS 'For what: repos (all that it hosts), hosts (those that a relay knows), or collection:NSID (those that use it).';
COMMENT ON COLUMN skua.backfill_hosts.state IS 'none: not begun. listing: begun. listed: read to its end. failed: given up after too many attempts.';
COMMENT ON COLUMN skua.backfill_hosts.cursor IS 'Where the next page begins, as the host said; null: at the beginning.';
COMMENT ON COLUMN skua.backfill_hosts.holder IS 'Who reads it, by the application_name of its database session; null: nobody.';
COMMENT ON COLUMN skua.backfill_hosts.error IS 'Why the last page failed; null: it did not.';

CREATE TABLE skua.dropped_indexes (
  dropped_at timestamptz NOT NULL DEFAULT now(),
  name       text        NOT NULL PRIMARY KEY,
  relation   text        NOT NULL,
  definition text        NOT NULL
);
COMMENT ON TABLE skua.dropped_indexes IS 'Indexes that a bootstrap took away to fill empty tables faster. While a row is here the bootstrap is not over.';
COMMENT ON COLUMN skua.dropped_indexes.dropped_at IS 'When it was dropped.';
COMMENT ON COLUMN skua.dropped_indexes.name IS 'The index, with its schema.';
COMMENT ON COLUMN skua.dropped_indexes.relation IS 'Its table, with its schema.';
COMMENT ON COLUMN skua.dropped_indexes.definition IS 'The statement that makes it again.';

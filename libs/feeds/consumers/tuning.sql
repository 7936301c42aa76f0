-- fragment: lane_succeeded
-- A statement that ends a batch sets these columns or those of lane_failed, so that they say whether the last batch succeeded.
attempts = 0, retry_at = NULL, error = NULL, failing_since = NULL, failures = 0, cause = NULL

-- fragment: lane_failed
-- A statement with this fragment also sets error, and for a leased consumer cause.
failing_since = coalesce(failing_since, clock_timestamp()), failures = least(failures, 1000000000) + 1

-- fragment: tuning
-- p has the tuning of a consumer c, with its overrides, in the columns batch, pause, max_attempts, retry and max_retry. The
-- times are in milliseconds. The parameters 1 to 6 are the profiles (tuning.hpp). An override that is not a number is ignored,
-- because it must not fail the statement for other consumers.
CROSS JOIN LATERAL (
  SELECT coalesce(o.batch, p.batch) AS batch, coalesce(o.pause_ms, p.pause) AS pause,
    coalesce(o.max_attempts, p.max_attempts) AS max_attempts, coalesce(o.retry_ms, p.retry) AS retry,
    coalesce(o.max_retry_ms, p.max_retry) AS max_retry
  FROM unnest($1::text[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[])
      AS p(name, batch, pause, max_attempts, retry, max_retry),
    skua.tuning_overrides(c.overrides) AS o
  WHERE p.name = c.profile
) AS p

#pragma once

#include "store/session.hpp"

namespace skua::feed {

/// A join that adds the tuning of a consumer `c` to a statement, with its overrides, as the columns
/// batch, pause, max_attempts, retry and max_retry of `p`. The times are in milliseconds. The
/// parameters 1 to 6 of the statement are those of `add_profiles`. An override that is not a number
/// does not count: it must not fail the statement for other consumers.
inline constexpr const char* kTuningJoin =
    "CROSS JOIN LATERAL (SELECT coalesce(o.batch, p.batch) AS batch, coalesce(o.pause_ms, p.pause) "
    "AS pause, coalesce(o.max_attempts, p.max_attempts) AS max_attempts, coalesce(o.retry_ms, "
    "p.retry) AS retry, coalesce(o.max_retry_ms, p.max_retry) AS max_retry "
    "FROM unnest($1::text[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[]) "
    "AS p(name, batch, pause, max_attempts, retry, max_retry), skua.tuning_overrides(c.overrides) "
    "AS o WHERE p.name = c.profile) AS p ";

/// Appends the tuning profiles: six parameters.
void add_profiles(store::Params& params);

}  // namespace skua::feed

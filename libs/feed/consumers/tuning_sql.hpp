#pragma once

#include "store/session.hpp"

namespace skua::feed {

/// A join that adds the tuning of a consumer `c` to a statement, with its overrides, as the columns
/// batch, pause, max_attempts, retry and max_retry of `p`. The times are in milliseconds. The
/// parameters 1 to 6 of the statement are those of `add_profiles`.
inline constexpr const char* kTuningJoin =
    "CROSS JOIN LATERAL (SELECT coalesce((c.overrides->>'batch')::int4, p.batch) AS batch, "
    "coalesce((c.overrides->>'pause_ms')::int4, p.pause) AS pause, "
    "coalesce((c.overrides->>'max_attempts')::int4, p.max_attempts) AS max_attempts, "
    "coalesce((c.overrides->>'retry_ms')::int4, p.retry) AS retry, "
    "coalesce((c.overrides->>'max_retry_ms')::int4, p.max_retry) AS max_retry "
    "FROM unnest($1::text[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[]) "
    "AS p(name, batch, pause, max_attempts, retry, max_retry) WHERE p.name = c.profile) AS p ";

/// Appends the tuning profiles: six parameters.
void add_profiles(store::Params& params);

}  // namespace skua::feed

#pragma once

namespace skua::feed {

// The columns of skua.consumer_lanes that state whether the last batch of a lane succeeded, for
// `UPDATE ... SET`. A statement that ends a batch has one of them.

inline constexpr const char* kLaneSucceeded =
    "attempts = 0, retry_at = NULL, error = NULL, failing_since = NULL, failures = 0, cause = NULL";

/// The statement also sets `error`, and for a leased consumer `cause`.
inline constexpr const char* kLaneFailed =
    "failing_since = coalesce(failing_since, clock_timestamp()), failures = least(failures, "
    "1000000000) + 1";

}  // namespace skua::feed

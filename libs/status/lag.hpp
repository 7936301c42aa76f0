#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "store/source_table.hpp"

namespace skua::status {

// The lag of a source is that of `lag_of` (metrics.hpp), which the process that reads the source
// computes. Pages and metrics of the process show it. Other processes read it from skua.metrics,
// where it was saved ten seconds ago at most.

using Seconds = std::chrono::duration<double>;

/// Metrics that are older than that were not saved when they should have been.
inline constexpr std::chrono::minutes kOldMetrics{2};

/// The lag that the process saved. Nothing: no process reads the source (`is_read`), it has saved
/// nothing for two minutes, or it has seen no event. Pure.
std::optional<Seconds> saved_lag(const store::StoredSource& source, bool is_read);

/// `8.4 s`, from two minutes on `12 min`.
std::string lag_text(Seconds lag);

}  // namespace skua::status

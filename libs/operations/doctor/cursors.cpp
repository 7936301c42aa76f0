#include "doctor/cursors.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/time.hpp"
#include "postgres/locks.hpp"
#include "postgres/server_clock.hpp"
#include "status/reports.hpp"
#include "tables/cursor_store.hpp"
#include "tables/source_table.hpp"

namespace skua::doctor {
namespace {

using std::chrono::seconds;

/// A cursor of this age is old, because relays keep their events for only some days.
constexpr std::chrono::hours kOldCursor{24};
/// A source with a longer lag is behind.
constexpr std::chrono::minutes kLongLag{5};
/// A tail requests the export every three seconds, but needs some time after a pause.
constexpr std::chrono::minutes kOldPlcCursor{10};
/// Converts an age to seconds. A clock that was set back gives no negative age, and a wrong value
/// in the table causes no overflow.
seconds age_of(double age) {
  constexpr double kLongest = 1e10;
  return seconds(static_cast<std::int64_t>(age > 0 ? std::min(age, kLongest) : 0));
}

Finding judge_read_source(const SourceFound& source) {
  const std::string reader = "read by " + source.owner.value_or("");
  if (source.metrics_age && *source.metrics_age > status::kOldMetrics) {
    return warning(source.name, problem("source-behind"),
                   fmt::format("{}, which has saved nothing for {}", reader,
                               duration_text(*source.metrics_age)),
                   "Look at the log of this process. If it hangs, restart it.");
  }
  if (!source.lag) return ok(source.name, reader + ", which has stated no lag yet");
  const std::string detail = fmt::format("{}, lag {}", reader, status::lag_text(*source.lag));
  return *source.lag > kLongLag ? warning(source.name, problem("source-behind"), detail)
                                : ok(source.name, detail);
}

Finding judge_unread_source(const SourceFound& source) {
  if (!source.cursor) return ok(source.name, "no process reads it; it has no saved cursor");
  const seconds age = source.cursor_age.value_or(seconds(0));
  const std::string detail = fmt::format("no process reads it; cursor {} was saved {} ago",
                                         *source.cursor, duration_text(age));
  return age > kOldCursor ? warning(source.name, problem("cursor-old"), detail)
                          : ok(source.name, detail);
}

}  // namespace

std::vector<SourceFound> read_sources_found(postgres::Session& session) {
  const Timestamp now = postgres::server_time(session);
  std::vector<SourceFound> found;
  for (const tables::StoredSource& stored : tables::read_sources(session)) {
    SourceFound source{.name = stored.name, .cursor = stored.cursor};
    if (stored.saved_at) {
      source.cursor_age = std::max(seconds(0), std::chrono::floor<seconds>(now - *stored.saved_at));
    }
    source.owner = postgres::source_owner(session, stored.name);
    if (stored.metrics_age_seconds) source.metrics_age = age_of(*stored.metrics_age_seconds);
    source.lag = status::saved_lag(stored, source.owner.has_value());
    found.push_back(std::move(source));
  }
  return found;
}

std::optional<PlcCursorFound> read_plc_cursor_found(postgres::Session& session) {
  const auto cursor = tables::load_plc_cursor(session);
  if (!cursor) return std::nullopt;
  const auto age = std::chrono::floor<seconds>(postgres::server_time(session) - cursor->current_at);
  return PlcCursorFound{std::max(seconds(0), age), postgres::plc_lock_owner(session)};
}

Findings judge_plc_cursor(const std::optional<PlcCursorFound>& cursor) {
  constexpr const char* kName = "PLC identities";
  if (!cursor) return {};
  const std::string age = duration_text(cursor->age);
  if (!cursor->owner) {
    return {ok(kName, fmt::format("an import stored them {} ago; no process follows the directory "
                                  "(skua run --plc-tail)",
                                  age))};
  }
  const std::string detail = fmt::format("current {} ago, by {}", age, *cursor->owner);
  if (cursor->age <= kOldPlcCursor) return {ok(kName, detail)};
  return {warning(kName, problem("plc-down"), detail,
                  "Wait if the age falls. Otherwise look at the log of this process.")};
}

Findings judge_sources(const std::vector<SourceFound>& sources) {
  Findings findings;
  findings.reserve(sources.size());
  for (const SourceFound& source : sources) {
    findings.push_back(source.owner ? judge_read_source(source) : judge_unread_source(source));
  }
  return findings;
}

}  // namespace skua::doctor

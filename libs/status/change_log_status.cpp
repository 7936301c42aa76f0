#include "status/change_log_status.hpp"

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "feed/log_maintenance.hpp"
#include "status/change_log_status.sql.hpp"
#include "status/json_columns.hpp"

namespace skua::status {
namespace {

struct ChangeLogState {
  std::int32_t timeline;
  std::int64_t retention_seconds;
  /// Nothing: the log has no blocks.
  std::optional<std::int64_t> oldest;
  std::optional<Timestamp> oldest_at;
  std::optional<std::int64_t> next;
  std::optional<Timestamp> newest_at;
};

}  // namespace

nlohmann::json read_change_log_status(store::Session& session) {
  const auto state = session.query_one<ChangeLogState>(sql::change_log_status);
  const feed::LogSize size = feed::read_log_size(session);
  return {{"timeline", state.timeline},
          {"retention_seconds", state.retention_seconds},
          {"oldest", state.oldest.value_or(1)},
          {"oldest_at", or_null(state.oldest_at)},
          {"next", state.next.value_or(1)},
          {"newest_at", or_null(state.newest_at)},
          {"bytes", size.bytes},
          {"max_bytes", size.max_bytes}};
}

}  // namespace skua::status

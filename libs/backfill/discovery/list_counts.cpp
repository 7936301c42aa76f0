#include "backfill/discovery/list_counts.hpp"

#include <chrono>
#include <string_view>

#include "backfill/discovery/list_counts.sql.hpp"

namespace skua::backfill {
namespace {

using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

ListState list_state(std::string_view text) {
  if (text == "listing") return ListState::Listing;
  if (text == "listed") return ListState::Listed;
  if (text == "failed") return ListState::Failed;
  return text == "cancelled" ? ListState::Cancelled : ListState::None;
}

}  // namespace

std::map<std::string, ListCounts> list_counts(Session& session, ListPurpose purpose) {
  Params params;
  params.boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(sql::backfill_hosts_counts, params);
  std::map<std::string, ListCounts> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ListCounts& kind = counts[std::string(rows.text(i, 0))];
    kind.lists[list_state(rows.text(i, 1))] = rows.int8(i, 2);
    kind.listed += rows.int8(i, 3);
  }
  return counts;
}

std::vector<ListError> list_errors(Session& session, std::size_t limit, ListPurpose purpose) {
  Params params;
  params.int8(static_cast<std::int64_t>(limit)).boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(sql::backfill_hosts_errors, params);
  std::vector<ListError> errors;
  errors.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors.push_back(
        {{std::string(rows.text(i, 0)), std::string(rows.text(i, 1)), rows.boolean(i, 2)},
         list_state(rows.text(i, 3)),
         std::string(rows.text(i, 4)),
         Timestamp(std::chrono::microseconds(rows.int8(i, 5)))});
  }
  return errors;
}

std::int64_t lists_abandoned_since(Session& session, Timestamp since) {
  Params params;
  params.timestamp(since);
  return session.execute(sql::backfill_hosts_abandoned_since, params).int8(0, 0);
}

}  // namespace skua::backfill

#include "backfill/discovery/list_counts.hpp"

#include <chrono>
#include <string_view>

#include "backfill/discovery/list_counts.sql.hpp"

namespace skua::backfill {

namespace {

using store::Session;

/// A row of backfill_hosts_counts.
struct CountedLists {
  std::string what;
  std::string state;
  std::int64_t lists;
  std::int64_t listed;
};

/// A row of backfill_hosts_errors.
struct ListErrorRow {
  std::string host;
  std::string what;
  bool is_operator_specified;
  std::string state;
  std::string reason;
  Timestamp next_attempt;
};

ListState list_state(std::string_view text) {
  if (text == "listing") return ListState::Listing;
  if (text == "listed") return ListState::Listed;
  if (text == "failed") return ListState::Failed;
  return text == "cancelled" ? ListState::Cancelled : ListState::None;
}

}  // namespace

std::map<std::string, ListCounts> list_counts(Session& session, ListPurpose purpose) {
  std::map<std::string, ListCounts> counts;
  for (const CountedLists& row :
       session.query<CountedLists>(sql::backfill_hosts_counts, purpose == ListPurpose::Audit)) {
    ListCounts& kind = counts[row.what];
    kind.lists[list_state(row.state)] = row.lists;
    kind.listed += row.listed;
  }
  return counts;
}

std::vector<ListError> list_errors(Session& session, std::size_t limit, ListPurpose purpose) {
  std::vector<ListError> errors;
  for (ListErrorRow& row : session.query<ListErrorRow>(sql::backfill_hosts_errors, limit,
                                                       purpose == ListPurpose::Audit)) {
    errors.push_back({{std::move(row.host), std::move(row.what), row.is_operator_specified},
                      list_state(row.state),
                      std::move(row.reason),
                      row.next_attempt});
  }
  return errors;
}

std::int64_t lists_abandoned_since(Session& session, Timestamp since) {
  return session.query_one<std::int64_t>(sql::backfill_hosts_abandoned_since, since);
}

}  // namespace skua::backfill

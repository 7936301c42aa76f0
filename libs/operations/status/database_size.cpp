#include "status/database_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/session.hpp"
#include "records/record.hpp"
#include "status/database_size.sql.hpp"
#include "writer/table_writer.hpp"

namespace skua::status {

namespace {

constexpr std::chrono::seconds kDiskInterval{5};
/// A longer time without an answer is unusual even for a busy server.
constexpr std::chrono::seconds kUnusual{10};

using postgres::Session;

constexpr std::int64_t kCountedOneByOne = 100'000;

struct RepositoryState {
  std::string state;
  std::int64_t repositories;
};

/// The desynchronized repositories, and those whose last resync failed.
struct WaitingRepositories {
  std::int64_t count;
  std::int64_t failed;
};

struct SampledAccount {
  AccountNumber id;
  bool is_active;
  std::string status;
  bool has_chain;
};

std::int64_t projected(std::size_t counted, double share) {
  return std::llround(static_cast<double>(counted) / share);
}

/// Returns the accounts that have a record in any table. `actors` is sorted.
std::set<AccountNumber> with_records(Session& session, const std::vector<AccountNumber>& actors) {
  // The largest revision includes all rows.
  const std::vector<std::int64_t> any(actors.size(), std::numeric_limits<std::int64_t>::max());
  std::set<AccountNumber> found;
  const auto look = [&](const writer::TableWriter& table) {
    const auto some = table.actors_with_rows_before(session, actors, any);
    found.insert(some.begin(), some.end());
  };
  look(writer::records_table());
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const writer::TableWriter* table = writer::table_of(id)) look(*table);
  }
  return found;
}

}  // namespace

DatabaseSize::DatabaseSize(std::string database_url, const Clock& clock)
    : runtime_(std::move(database_url), clock, postgres::end_process),
      clock_(clock),
      thread_(runtime_, {.session_name = postgres::process_name("skua disk")},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                measure(session);
                return kDiskInterval;
              }) {}

std::optional<DatabaseSize::Sample> DatabaseSize::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

std::optional<Timestamp> DatabaseSize::unanswered_since() const {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  if (!asked_ || now - asked_->steady < kUnusual) return std::nullopt;
  return asked_->at;
}

void DatabaseSize::measure(postgres::LazySession& session) {
  {
    const std::scoped_lock lock(mutex_);
    asked_ = {clock_.now(), std::chrono::steady_clock::now()};
  }
  std::optional<Sample> sample;
  try {
    const auto bytes = session.get().query_one<std::int64_t>(sql::database_size);
    sample = Sample{clock_.now(), bytes};
  } catch (const postgres::SqlError&) {
    session.reset();
  }
  const std::scoped_lock lock(mutex_);
  asked_.reset();
  latest_ = sample;
}

RepositoryCounts repository_counts(Session& session, std::int64_t sampled_blocks) {
  RepositoryCounts counts;
  const auto blocks = session.query_one<std::int64_t>(sql::repository_counts_blocks);
  counts.exact = blocks <= sampled_blocks;
  const double share =
      counts.exact ? 1.0 : static_cast<double>(sampled_blocks) / static_cast<double>(blocks);
  for (const auto& [state, sampled] :
       session.query<RepositoryState>(sql::repository_counts_sample, share * 100)) {
    counts.by_state[state] = projected(static_cast<std::size_t>(sampled), share);
  }
  const auto waiting =
      session.query_one<WaitingRepositories>(sql::repository_counts_waiting, kCountedOneByOne);
  if (waiting.count == 0) {
    counts.by_state.erase("desynchronized");
  } else if (waiting.count < kCountedOneByOne) {
    counts.by_state["desynchronized"] = waiting.count;
  }
  counts.resyncs_failed = waiting.failed;
  return counts;
}

AccountCounts account_counts(Session& session, std::int32_t sampled) {
  AccountCounts counts;
  const auto newest = session.query_one<std::int64_t>(sql::account_counts_newest);
  counts.exact = newest <= sampled;
  const auto accounts = session.query<SampledAccount>(
      sql::account_counts_sample, counts.exact ? std::nullopt : std::optional(sampled));
  if (accounts.empty()) return counts;
  // The values of the sequence are dense, because failed inserts do not use them. On a node the
  // count is an estimate.
  counts.known = counts.exact ? static_cast<std::int64_t>(accounts.size()) : newest;
  const double share = static_cast<double>(accounts.size()) / static_cast<double>(counts.known);
  std::vector<AccountNumber> known;
  std::set<AccountNumber> chained;
  std::map<std::string, std::size_t> hidden;
  for (const SampledAccount& account : accounts) {
    known.push_back(account.id);
    if (!account.is_active) hidden[account.status] += 1;
    if (account.has_chain) chained.insert(account.id);
  }
  const std::set<AccountNumber> stored = with_records(session, known);
  const auto is_unchained = [&](AccountNumber actor) { return !chained.contains(actor); };
  counts.with_records = projected(stored.size(), share);
  counts.without_chain = projected(
      static_cast<std::size_t>(std::count_if(stored.begin(), stored.end(), is_unchained)), share);
  for (const auto& [status, count] : hidden) counts.hidden[status] = projected(count, share);
  return counts;
}

}  // namespace skua::status

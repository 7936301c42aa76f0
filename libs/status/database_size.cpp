#include "status/database_size.hpp"

#include <utility>

#include "status/database_size.sql.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::status {
namespace {

constexpr std::chrono::seconds kDiskInterval{5};
/// A busy server answers sooner.
constexpr std::chrono::seconds kUnusual{10};

}  // namespace

DatabaseSize::DatabaseSize(std::string database_url, const Clock& clock)
    : runtime_(std::move(database_url), clock, store::end_process),
      clock_(clock),
      thread_(runtime_, {.session_name = store::process_name("skua disk")},
              [this](store::LazySession& session, const std::stop_token& /*stop*/) {
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

void DatabaseSize::measure(store::LazySession& session) {
  {
    const std::scoped_lock lock(mutex_);
    asked_ = {clock_.now(), std::chrono::steady_clock::now()};
  }
  std::optional<Sample> sample;
  try {
    const auto bytes = session.get().query_one<std::int64_t>(sql::database_size);
    sample = Sample{clock_.now(), bytes};
  } catch (const store::SqlError&) {
    session.reset();
  }
  const std::scoped_lock lock(mutex_);
  asked_.reset();
  latest_ = sample;
}

}  // namespace skua::status

#include "status/database_size.hpp"

#include <memory>
#include <utility>

#include "resolve/actor_sequence.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::status {
namespace {

constexpr std::chrono::seconds kDiskInterval{5};
/// A busy server answers sooner.
constexpr std::chrono::seconds kUnusual{10};

}  // namespace

DatabaseSize::DatabaseSize(std::string database_url, const Clock& clock)
    : database_url_(std::move(database_url)), clock_(clock) {}

DatabaseSize::~DatabaseSize() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DatabaseSize::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

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

void DatabaseSize::run(const std::stop_token& stop) {
  std::unique_ptr<store::Session> session;
  resolve::ActorNumberAlarm alarm;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    asked_ = {clock_.now(), std::chrono::steady_clock::now()};
    lock.unlock();
    std::optional<Sample> sample;
    try {
      if (!session || !session->connected()) {
        session = std::make_unique<store::Session>(database_url_, store::process_name("skua disk"));
      }
      const store::Rows rows = session->run("SELECT pg_database_size(current_database())");
      sample = Sample{clock_.now(), rows.int8(0, 0), resolve::actor_numbers_used(*session)};
      alarm.look_at(sample->actor_numbers_used);
    } catch (const store::SqlError&) {
      session.reset();
    }
    lock.lock();
    asked_.reset();
    latest_ = sample;
    wake_.wait_for(lock, stop, kDiskInterval, [] { return false; });
  }
}

}  // namespace skua::status

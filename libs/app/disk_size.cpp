#include "app/disk_size.hpp"

#include <memory>
#include <utility>

#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::app {
namespace {

constexpr std::chrono::seconds kDiskInterval{5};
/// A busy server answers sooner.
constexpr std::chrono::seconds kUnusual{10};

}  // namespace

DiskSize::DiskSize(std::string database_url, const Clock& clock)
    : database_url_(std::move(database_url)), clock_(clock) {}

DiskSize::~DiskSize() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DiskSize::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

std::optional<DiskSize::Sample> DiskSize::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

std::optional<Timestamp> DiskSize::unanswered_since() const {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  if (!asked_ || now - asked_->steady < kUnusual) return std::nullopt;
  return asked_->at;
}

void DiskSize::run(const std::stop_token& stop) {
  std::unique_ptr<store::Session> session;
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
      sample = Sample{clock_.now(), rows.int8(0, 0)};
    } catch (const store::SqlError&) {
      session.reset();
    }
    lock.lock();
    asked_.reset();
    latest_ = sample;
    wake_.wait_for(lock, stop, kDiskInterval, [] { return false; });
  }
}

}  // namespace skua::app

#include "identity/status_lane.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "atproto/syntax.hpp"
#include "identity/errc.hpp"
#include "identity/host_turns.hpp"
#include "transport/endpoint.hpp"

namespace skua::identity {
namespace {

/// Who is asked for an account's document, as a name for its turns.
std::string document_host(std::string_view did) {
  return std::string(did.substr(did.rfind(':') + 1));
}

std::string host_of_pds(const std::string& pds) {
  const auto url = transport::parse_http_url(pds);
  return url ? url->host : pds;
}

}  // namespace

class StatusLane::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Requests requests, StatusLaneLimits limits)
      : requests_(std::move(requests)),
        limits_(limits),
        directory_(limits.directory_at_once, limits.directory_at_once),
        web_(limits.web_at_once, limits.of_one_host),
        hosts_(limits.hosts_at_once, limits.of_one_host),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void ask(const std::string& did, StatusDone done) {
    errc refusal{};
    {
      std::unique_lock lock(mutex_);
      if (stopped_) {
        refusal = errc::stopped;
      } else if (waiting() >= limits_.waiting) {
        refusal = errc::busy;
      } else {
        const std::uint64_t id = ++last_id_;
        const bool is_plc = atproto::is_plc_did(did);
        Question& question = questions_[id];
        question.did = did;
        question.turns = is_plc ? &directory_ : &web_;
        question.host = is_plc ? std::string() : document_host(did);
        question.done = std::move(done);
        question.turns->push(id, question.host, Clock::now());
        start_what_may(lock);
        changed_.notify_one();
        return;
      }
    }
    done(refusal);
  }

  void stop() {
    std::vector<StatusDone> ended;
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      for (HostTurns* turns : {&directory_, &web_, &hosts_}) {
        for (const auto id : turns->take_waiting_since(Clock::time_point::max())) {
          ended.push_back(std::move(questions_.extract(id).mapped().done));
        }
      }
    }
    for (const StatusDone& done : ended) done(errc::stopped);
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
  }

  std::size_t count_waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting();
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Question {
    std::string did;
    /// Where it waits or has a request under way, and of which host.
    HostTurns* turns = nullptr;
    std::string host;
    /// Known: the host is asked.
    std::optional<std::string> pds;
    StatusDone done;
  };

  std::size_t waiting() const { return directory_.waiting() + web_.waiting() + hosts_.waiting(); }

  std::optional<std::uint64_t> next() {
    if (stopped_) return std::nullopt;
    // What has come furthest first.
    for (HostTurns* turns : {&hosts_, &web_, &directory_}) {
      if (const auto id = turns->take()) return id;
    }
    return std::nullopt;
  }

  /// Requests may be answered at once, on this thread: one call starts them all, so that answers do
  /// not pile up on the stack.
  void start_what_may(std::unique_lock<std::mutex>& lock) {
    if (is_starting_) return;
    is_starting_ = true;
    while (const auto id = next()) {
      const Question& question = questions_.at(*id);
      const std::string did = question.did;
      const std::optional<std::string> pds = question.pds;
      lock.unlock();
      if (pds) {
        requests_.ask_pds(*pds, did,
                          [self = shared_from_this(), id = *id](Result<HostStatus> status) {
                            self->answer(id, std::move(status));
                          });
      } else {
        requests_.find_pds(did, [self = shared_from_this(), id = *id](Result<std::string> found) {
          self->found(id, std::move(found));
        });
      }
      lock.lock();
    }
    is_starting_ = false;
  }

  void found(std::uint64_t id, Result<std::string> pds) {
    if (!pds) return answer(id, pds.error());
    std::unique_lock lock(mutex_);
    if (stopped_) {
      lock.unlock();
      return answer(id, errc::stopped);
    }
    Question& question = questions_.at(id);
    question.turns->finished(question.host);
    question.turns = &hosts_;
    question.host = host_of_pds(*pds);
    question.pds = *std::move(pds);
    hosts_.push(id, question.host, Clock::now());
    start_what_may(lock);
    changed_.notify_one();
  }

  void answer(std::uint64_t id, Result<HostStatus> status) {
    StatusDone done;
    {
      std::unique_lock lock(mutex_);
      auto question = questions_.extract(id);
      question.mapped().turns->finished(question.mapped().host);
      done = std::move(question.mapped().done);
      start_what_may(lock);
    }
    done(std::move(status));
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      std::optional<Clock::time_point> oldest;
      for (const HostTurns* turns : {&directory_, &web_, &hosts_}) {
        if (const auto since = turns->oldest(); since && (!oldest || *since < *oldest)) {
          oldest = since;
        }
      }
      if (!oldest) {
        changed_.wait(lock, stop, [this] { return waiting() > 0; });
        continue;
      }
      const auto due = *oldest + limits_.patience;
      if (Clock::now() < due) {
        changed_.wait_until(lock, stop, due, [] { return false; });
        continue;
      }
      std::vector<StatusDone> abandoned;
      for (HostTurns* turns : {&directory_, &web_, &hosts_}) {
        for (const auto id : turns->take_waiting_since(*oldest)) {
          abandoned.push_back(std::move(questions_.extract(id).mapped().done));
        }
      }
      lock.unlock();
      for (const StatusDone& done : abandoned) done(errc::busy);
      lock.lock();
    }
  }

  const Requests requests_;
  const StatusLaneLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, Question> questions_;
  HostTurns directory_;
  HostTurns web_;
  HostTurns hosts_;
  std::uint64_t last_id_ = 0;
  bool is_starting_ = false;
  bool stopped_ = false;
  std::jthread thread_;
};

StatusLane::StatusLane(Requests requests, StatusLaneLimits limits)
    : impl_(std::make_shared<Impl>(std::move(requests), limits)) {}

StatusLane::~StatusLane() {
  stop();
}

void StatusLane::ask(const std::string& did, StatusDone done) {
  impl_->ask(did, std::move(done));
}

void StatusLane::stop() {
  impl_->stop();
}

std::size_t StatusLane::waiting() const {
  return impl_->count_waiting();
}

}  // namespace skua::identity

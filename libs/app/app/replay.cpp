#include "app/replay.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "accounts/handle_verifier.hpp"
#include "app/database.hpp"
#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "ids/reference_sender.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/pipeline.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/runtime.hpp"
#include "retention/removal.hpp"
#include "sources/labeler/labeler_source.hpp"
#include "transport/capture.hpp"
#include "writer/account_changes.hpp"
#include "writer/handle_claims.hpp"

namespace skua::app {
namespace {

/// Returns whether a capture begins with a frame of a labeler. A pipe can be read only once, so it
/// counts as the capture of a relay.
bool begins_with_labels(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) return false;
  transport::CaptureReader capture(file);
  const auto first = capture.next();
  return first && *first && sources::is_labels_message(**first);
}

}  // namespace

class Replay::Impl {
 public:
  Impl(ReplayOptions options, const atproto::GroupSet& owned, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        started_at_(clock.now()),
        capture_(options_.file),
        is_of_labeler_(begins_with_labels(options_.file)),
        runtime_(options_.database_url, clock),
        verification_(options_.accounts ? std::make_unique<pipeline::CommitVerification>(
                                              runtime_, *options_.accounts, nullptr, options_.level)
                                        : nullptr),
        pool_(runtime_),
        pipeline_(runtime_,
                  {.sources = {source()},
                   // All labels wait for the same keys, so several threads would not help.
                   .decode_threads = is_of_labeler_ ? 1 : options_.decode_threads,
                   .in_flight = options_.in_flight,
                   .make_decoder = is_of_labeler_ ? sources::make_label_decoder : nullptr,
                   .verification = verification_ ? &verification_->verification() : nullptr,
                   .groups = owned},
                  pool_),
        references_(runtime_) {
    pool_.start();
    references_.start();
    if (options_.check_handles)
      handles_ = std::make_unique<accounts::HandleLookups>(runtime_, handle_options());
  }

  ~Impl() { end_reading(); }

  void start() {
    reader_ = std::jthread([this](const std::stop_token& stop) {
      read(stop);
      // The user waits until all events are durable, which is certain only when none is in flight.
      wait_until_empty(stop);
      retention::RemovalMetrics removals;
      repeat_until(stop, [&](postgres::Session& session) {
        return retention::purge_deleted(session, stop, removals) == 0 &&
               writer::purges_after(session, "").empty();
      });
      // A look-up whose server failed is due again later, and the end does not wait for it.
      if (handles_) {
        repeat_until(stop, [&](postgres::Session& session) {
          return writer::due_handles(session, clock_.now(), 1).empty();
        });
      }
      references_.stop();
      repeat_until(stop, [&](postgres::Session& session) {
        const auto unsent = references_.send_all(session, stop);
        unsent_.with([&](auto& texts) {
          for (const auto& of_node : unsent) texts.push_back(of_node.text());
        });
        return true;
      });
      const std::scoped_lock lock(mutex_);
      done_ = !stop.stop_requested();
      changed_.notify_all();
    });
  }

  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }

  bool stop() {
    end_reading();
    const auto patience = reason_to_stop() ? std::chrono::milliseconds(0) : options_.drain_timeout;
    const bool drained = pipeline_.drain(std::chrono::steady_clock::now() + patience);
    pool_.end(drained);
    if (verification_) verification_->stop();
    if (handles_) handles_->stop();
    references_.stop();
    return drained;
  }

  pipeline::Metrics metrics() const {
    pipeline::Metrics metrics =
        pipeline::pipeline_metrics(pipeline_, source(), started_at_, clock_.now());
    metrics.is_live = false;
    if (handles_) metrics.add(pipeline::MetricScope::Process, values_of(handles_->counters()));
    metrics.add(pipeline::MetricScope::Process, values_of(references_.metrics()));
    return metrics;
  }
  std::vector<std::string> unsent_references() const {
    return unsent_.with([](const auto& unsent) { return unsent; });
  }
  std::string file_problem() const {
    return problem_.with([](const auto& problem) { return problem; });
  }
  bool file_is_broken() const { return broken_; }
  std::optional<std::string> reason_to_stop() const { return runtime_.reason_to_stop(); }

 private:
  accounts::HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.ca_file,
            .allow_private_hosts = options_.allow_private_hosts};
  }

  std::string source() const { return "capture:" + options_.file.filename().string(); }

  void end_reading() {
    if (!reader_.joinable()) return;
    reader_.request_stop();
    reader_.join();
  }

  void read(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto next = capture_.next();
      if (next.has_error()) {
        broken_ = true;
        break;
      }
      if (!*next) break;
      transport::RawFrame frame{Bytes((*next)->begin(), (*next)->end()), clock_.now()};
      event::FramePeek peek;
      if (const auto peeked = event::peek_frame(frame.bytes)) peek = *peeked;
      if (peek.type == event::MessageType::Error) {
        pipeline_.count_error_frame();
        continue;
      }
      while (!pipeline_.submit(frame, peek)) {
        if (!wait_for_room(stop)) return;
      }
    }
    problem_.with([&](auto& problem) { problem = capture_.problem(); });
  }

  /// Waits until the pipeline has room. Returns false if a stop was requested.
  bool wait_for_room(const std::stop_token& stop) {
    // The signal is shared with the callback, which may come after this call has returned.
    struct Signal {
      std::mutex mutex;
      std::condition_variable_any came;
      bool room = false;
    };
    const auto signal = std::make_shared<Signal>();
    pipeline_.when_room([signal] {
      const std::scoped_lock lock(signal->mutex);
      signal->room = true;
      signal->came.notify_all();
    });
    std::unique_lock lock(signal->mutex);
    return signal->came.wait(lock, stop, [&] { return signal->room; });
  }

  void wait_until_empty(const std::stop_token& stop) {
    while (!stop.stop_requested() && !pipeline_.wait_until_empty(std::chrono::steady_clock::now() +
                                                                 std::chrono::milliseconds(100))) {
    }
  }

  /// Calls `is_done(session)` until it returns true or a stop is requested.
  template <class F>
  void repeat_until(const std::stop_token& stop, F&& is_done) {
    constexpr std::chrono::milliseconds kPause{200};
    std::unique_ptr<postgres::Session> session;
    while (!stop.stop_requested() && !reason_to_stop()) {
      try {
        if (!session || !session->connected()) {
          session = std::make_unique<postgres::Session>(options_.database_url,
                                                        postgres::process_name("skua replay"));
        }
        if (is_done(*session)) return;
      } catch (const postgres::ServerError&) {
        session.reset();
      }
      std::unique_lock lock(mutex_);
      pause_.wait_for(lock, stop, kPause, [] { return false; });
    }
  }

  const ReplayOptions options_;
  const Clock& clock_;
  const Timestamp started_at_;
  transport::CaptureReader capture_;
  const bool is_of_labeler_;
  postgres::Runtime runtime_;
  Guarded<std::string> problem_;
  std::atomic<bool> broken_{false};
  std::unique_ptr<pipeline::CommitVerification> verification_;
  writer::WorkerPool pool_;
  pipeline::Pipeline pipeline_;
  ids::ReferenceSender references_;
  Guarded<std::vector<std::string>> unsent_;
  std::unique_ptr<accounts::HandleLookups> handles_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable_any pause_;
  bool done_ = false;
  std::jthread reader_;
};

Replay::Replay(ReplayOptions options, const Clock& clock) {
  check_database_to_write(options.database_url, options.durability);
  const atproto::GroupSet owned = state_groups(options.database_url);
  impl_ = std::make_unique<Impl>(std::move(options), owned, clock);
}

Replay::~Replay() = default;

void Replay::start() {
  impl_->start();
}

bool Replay::wait_for(std::chrono::milliseconds time) {
  return impl_->wait_for(time);
}

bool Replay::stop() {
  return impl_->stop();
}

pipeline::Metrics Replay::metrics() const {
  return impl_->metrics();
}

std::vector<std::string> Replay::unsent_references() const {
  return impl_->unsent_references();
}

std::string Replay::file_problem() const {
  return impl_->file_problem();
}

bool Replay::file_is_broken() const {
  return impl_->file_is_broken();
}

std::optional<std::string> Replay::reason_to_stop() const {
  return impl_->reason_to_stop();
}

}  // namespace skua::app

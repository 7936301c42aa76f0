#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "pipeline/pipeline.hpp"
#include "sources/intake.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"
#include "transport/stream_client.hpp"
#include "writer/worker_pool.hpp"

namespace skua::sources {

/// The parts that all subscriptions of a process share. All parts outlive the subscriptions.
struct SubscriptionServices {
  postgres::Runtime& runtime;
  writer::WorkerPool& pool;
  /// If it is null, signatures are not verified.
  const pipeline::VerificationServices* verification = nullptr;
  /// The counts of all subscriptions together.
  pipeline::IntakeCounters& intake;
  std::string ca_file;
  bool allow_private_hosts = false;
  transport::ReconnectPolicy::Options reconnect;
  /// The maximum number of labels that one labeler may send in a second.
  double labels_per_second = 500;
  std::function<void()> save_cursor;
};

/// The subscription to one discovered labeler. It has a connection, a decoder and an in-flight list
/// of its own, so that a slow or hostile labeler only delays itself. It has two threads. One thread
/// owns and calls it. Any thread may call its const functions.
class LabelerSubscription {
 public:
  /// `saved` is the saved cursor. Nothing means that everything is read.
  LabelerSubscription(ChosenLabeler labeler, std::optional<std::int64_t> saved,
                      const SubscriptionServices& services);
  ~LabelerSubscription();
  LabelerSubscription(const LabelerSubscription&) = delete;
  LabelerSubscription& operator=(const LabelerSubscription&) = delete;

  void start() { client_->start(); }
  /// Sets the accounts whose labels the labeler may send.
  void set_accounts(std::vector<std::string> dids);

  /// Takes no more messages. Waits for the end of the connection.
  void close() { client_->stop(); }
  /// Waits until everything is durable. Returns false if something is not durable at the deadline.
  /// Call it after `close`. It may be repeated.
  bool drain(std::chrono::steady_clock::time_point deadline) { return pipeline_.drain(deadline); }
  /// Returns whether the subscription can be destroyed while the workers run. Repeat it until it
  /// returns true. Call it after `drain` has returned true.
  bool leave_pool() { return pipeline_.leave_pool(); }

  bool connected() const { return intake_->connected(); }
  /// Returns the number of connections that ended and of attempts that failed.
  std::uint64_t failures() const { return client_->statistics().failures; }
  std::uint64_t connections() const { return client_->statistics().connections; }
  std::uint64_t restarts() const { return intake_->restarts(); }
  /// Returns nothing if no message has become durable since the start.
  std::optional<pipeline::InFlightList::Watermark> watermark() const {
    return pipeline_.watermark();
  }
  pipeline::InFlightList::Backlog backlog() const { return pipeline_.backlog(); }
  std::size_t frames_in_flight() const { return pipeline_.frames_in_flight(); }

 private:
  pipeline::PipelineOptions pipeline_options(const std::string& name,
                                             const SubscriptionServices& services) const;
  transport::StreamClientOptions client_options(const SubscriptionServices& services);

  using Accounts = Guarded<std::vector<std::string>>;
  /// The accounts, which the decoder also reads.
  const std::shared_ptr<Accounts> accounts_;
  pipeline::Pipeline pipeline_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<transport::StreamClient> client_;
};

}  // namespace skua::sources

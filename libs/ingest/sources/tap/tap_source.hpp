#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "event/tap_message.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/message_decoder.hpp"
#include "sources/intake.hpp"
#include "sources/source.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// The ids of a Tap's messages that are in flight, until they are acknowledged. An id is sent back
/// when all events of its message are durable. Any thread may use it.
///
/// Ids are valid within one connection, because a Tap that restarts counts from 1 again. When a
/// connection ends, its ids are forgotten, and Tap sends these messages again.
class AckLedger {
 public:
  using Ticket = pipeline::InFlightList::Ticket;
  /// Sends acknowledgements. Returns how many of the ids were accepted, beginning with the first.
  /// The ledger calls it under its lock, so that no id gets into the next connection. Therefore it
  /// must neither wait nor call the ledger.
  using Send = std::function<std::size_t(std::span<const std::int64_t>)>;

  explicit AckLedger(Send send) : send_(std::move(send)) {}

  /// Adds an admitted message. Call it before the message can finish.
  void expect(Ticket ticket, std::int64_t id);

  /// Reports that these messages are durable. Acknowledges them, and the ids that were refused
  /// before. Ignores tickets of earlier connections and of other sources.
  void finished(std::span<const Ticket> tickets);

  /// Forgets the ids of the connection. Call it before the next connection begins.
  void connection_ended();

  struct Counters {
    std::size_t unfinished = 0;
    /// The number of finished messages whose ids the connection has not accepted yet. An id has
    /// eight bytes, and a connection that accepts none for long ends.
    std::size_t refused = 0;
    std::uint64_t acknowledged = 0;
    /// The number of ids that were forgotten with their connection.
    std::uint64_t forgotten = 0;
  };
  Counters metrics() const;

 private:
  void send();

  const Send send_;
  mutable std::mutex mutex_;
  boost::unordered_flat_map<Ticket, std::int64_t> ids_;
  std::vector<std::int64_t> ready_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t forgotten_ = 0;
};

/// Reads the messages of a Tap. One thread uses it.
class TapReader final : public pipeline::MessageReader {
 public:
  Result<pipeline::ReadMessage> read(const pipeline::AdmittedMessage& message) override;
  void count(pipeline::IntakeCounters& intake) override;
  /// The answer is false, because Tap gives a message another number when it sends the message
  /// again.
  bool has_stable_seq() const override { return false; }

 private:
  event::TapDecoder decoder_;
  event::TapMessage message_;
};

/// Takes the messages of a Tap into the pipeline, and acknowledges each message when its rows are
/// durable. Tap repeats messages that were not acknowledged, so no cursor is sent to it. The
/// sequence number of a message is its arrival time. Therefore the saved cursor shows which
/// tombstones are still needed. See Intake for the threads.
class TapIntake final : public Intake {
 public:
  /// `password` is the password of the user `admin`. It is empty if Tap needs none.
  TapIntake(IntakeServices services, transport::Endpoint endpoint, std::string password);

  /// The connection stays open, because messages that were taken are still acknowledged.
  bool close() override {
    closed_ = true;
    return true;
  }
  void on_finished(std::span<const pipeline::Pipeline::Ticket> tickets) override {
    ledger_.finished(tickets);
  }

  transport::StreamClientOptions stream() override;
  void attach(transport::StreamClient& client) override { client_ = &client; }
  bool try_accept(transport::RawFrame& frame) override;
  void when_room(std::function<void()> wake) override {
    if (!closed_) Intake::when_room(std::move(wake));
  }
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

 protected:
  bool may_be_silent() const override { return true; }

 private:
  std::size_t send(std::span<const std::int64_t> ids);

  const transport::Endpoint endpoint_;
  const std::string password_;
  transport::StreamClient* client_ = nullptr;
  AckLedger ledger_;
  /// The number of the connection whose ids are in the ledger.
  std::atomic<std::uint64_t> connection_{0};
  /// The arrival time of the last message in microseconds. It is always greater than the time of
  /// the message before.
  std::int64_t arrival_ = 0;
  std::atomic<bool> closed_{false};
};

/// The `/channel` of a Tap (github.com/bluesky-social/indigo, cmd/tap). It has no cursor. It
/// repeats messages that were not acknowledged.
class TapSource final : public Source {
 public:
  /// `password` is the password of the user `admin`. It is empty if Tap needs none.
  TapSource(transport::Endpoint endpoint, std::string password)
      : Source(std::move(endpoint)), password_(std::move(password)) {}

  std::string_view kind() const override { return "tap"; }
  Proof proof() const override { return Proof::None; }
  bool has_cursor() const override { return false; }
  bool is_acknowledged() const override { return true; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const override;

 private:
  const std::string password_;
};

}  // namespace skua::sources

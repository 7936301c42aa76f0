#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/dispatch.hpp"
#include "pipeline/future_gate.hpp"
#include "pipeline/intake_counters.hpp"

namespace skua::pipeline {

/// A message that a MessageReader has read.
struct ReadMessage {
  /// The reader's, until its next call.
  std::vector<event::UnresolvedEvent>* events = nullptr;
  /// When the source says that it made the message; the epoch: it does not say.
  Timestamp stated_at{};
  /// When the message was made, as far as that is known; the epoch: it is not.
  Timestamp made_at{};
  /// The events are not all that has happened to the repository: it must be downloaded again. Why,
  /// for the log; null: they are.
  const char* gap = nullptr;
};

/// Reads the messages of one kind of JSON source. May hold scratch memory. One thread.
class MessageReader {
 public:
  virtual ~MessageReader() = default;

  /// Error: the message as a whole cannot be read; it becomes a dead letter.
  virtual Result<ReadMessage> read(const AdmittedMessage& message) = 0;
  /// Counts the message that was read last, because it goes on. Logs what it says to people.
  virtual void count(IntakeCounters& intake) = 0;
  /// Whether a message that is sent again has the same number, so that dead letters may carry it.
  virtual bool has_stable_seq() const { return true; }
};

/// Decodes the messages of a JSON source. Nothing in them can be verified: they carry no
/// signatures.
class MessageDecoder final : public AnyDecoder {
 public:
  MessageDecoder(std::unique_ptr<MessageReader> reader, DispatchServices services);

  void take(AdmittedMessage& message) override { take(message, Gate::Ahead); }
  bool tick() override;
  /// No message waits for an answer, but some wait for the local clock.
  std::size_t abandoned() const override { return gate_.size(); }

 private:
  /// Whether FutureGate has released the message.
  enum class Gate : std::uint8_t { Ahead, Behind };

  void take(AdmittedMessage& message, Gate gate);
  /// The filter excludes its account.
  void leave_out(const AdmittedMessage& message);
  void read(AdmittedMessage& message, Gate gate);
  /// False: the gate has taken the message.
  bool passes(AdmittedMessage& message, const ReadMessage& read, Gate gate);
  /// Drops the message if its revision lies in the future, else dispatches its events.
  void hand_on(const AdmittedMessage& message, const ReadMessage& read);

  const std::unique_ptr<MessageReader> reader_;
  const DispatchServices services_;
  FutureGate gate_;
  /// For the current message.
  filter::CurrentFilter::Snapshot filter_;
};

}  // namespace skua::pipeline

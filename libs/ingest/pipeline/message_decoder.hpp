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
  /// The events, which are valid until the next call of the reader.
  std::vector<event::UnresolvedEvent>* events = nullptr;
  /// The time at which the source says that it made the message. It is the epoch if the source
  /// gives no time.
  Timestamp stated_at{};
  /// The time at which the message was made, as far as it is known. It is the epoch if it is not
  /// known.
  Timestamp made_at{};
  /// The reason, for the log, why the events are not complete, so that the repository must be
  /// downloaded again. It is null if they are complete.
  const char* gap = nullptr;
};

/// Reads the messages of one kind of JSON source. It may hold scratch memory. One thread uses it.
class MessageReader {
 public:
  virtual ~MessageReader() = default;

  /// Returns an error if the message as a whole cannot be read. Such a message becomes a dead
  /// letter.
  virtual Result<ReadMessage> read(const AdmittedMessage& message) = 0;
  /// Counts the message that was read last, after it has passed FutureGate, and logs its texts for
  /// users.
  virtual void count(IntakeCounters& intake) = 0;
  /// Whether a repeated message has the same number, so that dead letters may contain the number.
  virtual bool has_stable_seq() const { return true; }
};

/// Decodes the messages of a JSON source. They cannot be verified, because they have no signatures.
class MessageDecoder final : public AnyDecoder {
 public:
  MessageDecoder(std::unique_ptr<MessageReader> reader, DispatchServices services);

  void take(AdmittedMessage& message) override { take(message, Gate::Ahead); }
  bool tick() override;
  /// The messages that the gate holds are unfinished. No message waits for an answer.
  std::size_t abandoned() const override { return gate_.size(); }

 private:
  /// Whether FutureGate has released the message.
  enum class Gate : std::uint8_t { Ahead, Behind };

  void take(AdmittedMessage& message, Gate gate);
  /// Finishes a message whose account the filter excludes.
  void leave_out(const AdmittedMessage& message);
  void read(AdmittedMessage& message, Gate gate);
  /// Returns false if the gate has taken the message.
  bool passes(AdmittedMessage& message, const ReadMessage& read, Gate gate);
  /// Drops the message if its revision is in the future. Otherwise dispatches its events.
  void hand_on(const AdmittedMessage& message, const ReadMessage& read);

  const std::unique_ptr<MessageReader> reader_;
  const DispatchServices services_;
  FutureGate gate_;
  /// The filter for the current message.
  filter::CurrentFilter::Snapshot filter_;
};

}  // namespace skua::pipeline

#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>

#include "base/bounded_queue.hpp"
#include "event/jetstream_message.hpp"
#include "event/tap_message.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/dispatch.hpp"
#include "ingest/future_gate.hpp"

namespace skua::ingest {

/// Decodes the messages of a JSON source, which nothing can verify: signatures are not in them.
class MessageDecoder final : public DecodeThread {
 public:
  enum class Format : std::uint8_t { Tap, Jetstream };

  MessageDecoder(Format format, DispatchServices services);
  ~MessageDecoder() override;

  void push(AdmittedMessage message) override;
  void close() override;
  void join() override;
  std::size_t backlog() const override { return queue_.size(); }
  /// No message ever waits for an answer, but some may for our clock.
  std::size_t abandoned() const override { return abandoned_; }

 private:
  /// Whether a message was before FutureGate.
  enum class Gate : std::uint8_t { Ahead, Behind };

  void run();
  void take(AdmittedMessage& message, Gate gate);
  void take_tap(AdmittedMessage& message, Gate gate);
  void take_jetstream(AdmittedMessage& message, Gate gate);
  /// False: the message waits for our clock.
  bool passes(AdmittedMessage& message, const std::vector<event::UnresolvedEvent>& events,
              Timestamp time, Gate gate);
  /// Judges the events and hands them on. `stated`: when the source says that it made the message;
  /// the epoch: it does not. `time`: when it was made, as far as that is known.
  void hand_on(const AdmittedMessage& message, std::vector<event::UnresolvedEvent>& events,
               Timestamp stated, Timestamp time);

  const Format format_;
  const DispatchServices services_;
  BoundedQueue<AdmittedMessage> queue_;
  FutureGate gate_;
  std::size_t abandoned_ = 0;
  /// Of the message at hand.
  filter::CurrentFilter::Snapshot filter_;
  event::TapDecoder tap_decoder_;
  event::TapMessage tap_;
  event::JetstreamDecoder jetstream_decoder_;
  event::JetstreamMessage jetstream_;
  std::thread thread_;
};

}  // namespace skua::ingest

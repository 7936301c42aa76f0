#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "ingest/in_flight.hpp"

namespace skua::ingest {

/// A message of a source that has a place in the in-flight list. Moved, never copied: `did` is a
/// view into its bytes.
struct AdmittedMessage {
  AdmittedMessage() = default;
  AdmittedMessage(AdmittedMessage&&) noexcept = default;
  AdmittedMessage& operator=(AdmittedMessage&&) noexcept = default;
  AdmittedMessage(const AdmittedMessage&) = delete;
  AdmittedMessage& operator=(const AdmittedMessage&) = delete;

  Bytes bytes;
  InFlightList::Ticket ticket = 0;
  /// 0: the message has none.
  std::int64_t seq = 0;
  /// Empty: the message names no account, or cannot be read.
  std::string_view did;
  Timestamp received_at;
  /// Why it cannot be read: see transport::RawFrame. It becomes a dead letter.
  ErrorCode defect{};
};

/// Decodes messages into events on a thread of its own. All messages of an account go to the same
/// decoder, which keeps their order. The in-flight list bounds its queue.
class DecodeThread {
 public:
  virtual ~DecodeThread() = default;

  /// Any thread; the messages of one account from one thread.
  virtual void push(AdmittedMessage message) = 0;
  /// No more messages come. The thread ends when all are decoded. Messages that wait for an answer
  /// stay unfinished.
  virtual void close() = 0;
  virtual void join() = 0;
  /// Messages in the queue. Any thread.
  virtual std::size_t backlog() const = 0;
  /// Messages that the thread left unfinished when it ended.
  virtual std::size_t abandoned() const = 0;
};

}  // namespace skua::ingest

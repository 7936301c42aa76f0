#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// A message of a source that has its place in the in-flight list. Moved, never copied: `did` is a
/// view into its bytes.
struct AdmittedMessage {
  AdmittedMessage() = default;
  AdmittedMessage(AdmittedMessage&&) noexcept = default;
  AdmittedMessage& operator=(AdmittedMessage&&) noexcept = default;
  AdmittedMessage(const AdmittedMessage&) = delete;
  AdmittedMessage& operator=(const AdmittedMessage&) = delete;

  Bytes bytes;
  writer::InFlightList::Ticket ticket = 0;
  /// 0: it has none.
  std::int64_t seq = 0;
  /// Empty: it is about no account, or cannot be read.
  std::string_view did;
  Timestamp received_at;
};

/// From messages to events, on a thread of its own. All messages of an account meet the same one
/// and leave it in their order. What may be in flight at all bounds what waits.
class DecodeThread {
 public:
  virtual ~DecodeThread() = default;

  /// Any thread; an account's messages from one.
  virtual void push(AdmittedMessage message) = 0;
  /// No more come. The thread ends when all are decoded but those that wait for an answer from
  /// elsewhere: they stay unfinished.
  virtual void close() = 0;
  virtual void join() = 0;
  /// Messages that it has not looked at yet, and that need no answer before it does. Any thread.
  virtual std::size_t backlog() const = 0;
  /// Messages that were left at the end.
  virtual std::size_t abandoned() const = 0;
};

}  // namespace skua::ingest

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/metric.hpp"
#include "base/time.hpp"

namespace skua::pipeline {

/// The frames of one source (or of several sources that stand by for each other) in the order in
/// which they were read, from the read until they are durable. The list has three purposes:
///
/// - It has the watermark: the end of the contiguous finished prefix, which may be saved as cursor.
/// - It bounds the memory: when it is full, no frame is admitted, and the source stops reading.
/// - A stop waits until it is empty.
///
///   read     1 2 3 4 5        finished: 1 2 4        watermark: 2
///   ... 3 finishes                                   watermark: 4
///
/// A frame finishes when all events of the frame have finished: as rows, as dead letters, or as
/// counted drops. Any thread may use the list.
class InFlightList {
 public:
  struct Limits {
    /// The maximum number of frames, including finished frames that wait for an earlier unfinished
    /// frame.
    std::size_t frames = 100'000;
    /// The maximum number of bytes of unfinished frames. Finished frames are no longer in memory,
    /// so they must not exclude other frames while an earlier frame is slow.
    std::size_t bytes = std::size_t{64} << 20;

    /// The share of one account: 1 / `frame_parts` of the frames, and 1 / `byte_parts` of the
    /// bytes. Only unfinished frames count.
    std::size_t frame_parts = 32;
    std::size_t byte_parts = 8;
  };
  /// Identifies a frame until it has finished.
  using Ticket = std::uint64_t;

  struct Watermark {
    std::int64_t seq = 0;
    /// The time at which the host made that frame. It is the epoch if the host gave no time.
    Timestamp time;
  };

  /// The tickets of frames that have finished are passed to this function, on the thread that
  /// finished them, without locks.
  using OnFinished = std::function<void(std::span<const Ticket>)>;

  explicit InFlightList(Limits limits, OnFinished on_finished = nullptr)
      : limits_(limits), on_finished_(std::move(on_finished)) {}

  /// The properties of a frame that must be admitted.
  struct Frame {
    /// The index of the stream, if several streams with sequence numbers of their own are read one
    /// after the other. The watermark of a stream also waits for earlier frames of the other
    /// streams.
    std::size_t stream = 0;
    /// The sequence number, or 0 if the frame has none. Such a frame holds the watermark back but
    /// does not move it.
    std::int64_t seq = 0;
    std::size_t bytes = 0;
    /// The time at which the frame was read.
    Timestamp received_at{};
    /// The hash of the frame's account, or 0 if the frame names none.
    std::uint64_t account = 0;
  };

  /// Adds a frame at the end. Returns nothing if there is no room. In this case repeat the call
  /// after `when_room`.
  std::optional<Ticket> admit(const Frame& frame);

  /// Whether another frame of this account stays within the account's share.
  bool has_share(std::uint64_t account, std::size_t bytes) const;

  /// Sets the watermark to 0 until a frame that is admitted after this call has finished, because
  /// the source has reset its sequence numbers. Earlier frames no longer move the watermark.
  void restart(std::size_t stream = 0);

  /// Reports that everything of this stream up to `watermark` is durable because of another stream.
  /// Moves the watermark there, unless it is already beyond.
  void pass(std::size_t stream, const Watermark& watermark);

  /// Returns the stream of a frame that has not finished.
  std::size_t stream_of(Ticket ticket) const;

  /// Sets the time at which the host made a frame, for a frame that is decoded later, for example
  /// because it waits for a key.
  void made_at(Ticket ticket, Timestamp time);

  /// Sets the number of events of a frame, once. A frame without events has finished. Returns the
  /// time at which the frame was read.
  Timestamp decoded(Ticket ticket, std::size_t events, Timestamp time);

  /// Whether the number of events was set, or the frame has finished.
  bool is_decoded(Ticket ticket) const;

  /// Finishes one event for each occurrence of a ticket, at `now`. A ticket may occur several
  /// times.
  void finish(std::span<const Ticket> tickets, Timestamp now);

  /// Returns the times from the read of a frame to the end of its last event.
  const LatencyHistogram& latency() const { return latency_; }

  /// Returns nothing until the first frame with a sequence number has finished.
  std::optional<Watermark> watermark(std::size_t stream = 0) const;

  /// Calls `wake` once there is room again, or at once if there is room. It calls from any thread,
  /// without locks.
  void when_room(std::function<void()> wake);

  /// The distance between the stream and the durable position.
  struct Backlog {
    /// The number of frames that have not finished.
    std::size_t waiting = 0;
    // The following times are those at which the host made a frame. A time more than 5 minutes
    // after the read of the frame does not count.
    /// The time of the newest frame whose events are all durable. Frames without events do not
    /// count, because they finish even if nothing can be committed.
    std::optional<Timestamp> newest_committed;
    /// The time of the oldest frame that has not finished, if the time is known yet.
    std::optional<Timestamp> oldest_waiting;
  };
  Backlog backlog() const;

  std::size_t frames() const;
  /// Returns the number of frames that have not finished. The other frames of the list wait for an
  /// earlier one.
  std::size_t unfinished() const;
  /// Returns the bytes of the frames that have not finished.
  std::size_t bytes() const;

  /// Returns the ticket below which all frames have finished.
  Ticket first_unfinished() const;
  /// Returns the ticket of the next frame.
  Ticket next_ticket() const;

  /// Waits until at most `frames` unfinished frames are in flight. Returns false if the deadline
  /// came first.
  bool wait_until_at_most(std::size_t frames, std::chrono::steady_clock::time_point deadline);
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return wait_until_at_most(0, deadline);
  }

 private:
  struct Entry {
    Frame frame;
    Timestamp time;
    std::size_t remaining;  // events that have not finished; kUndecoded before `decoded`
  };
  static constexpr std::size_t kUndecoded = static_cast<std::size_t>(-1);

  static bool has_credible_time(const Entry& entry);
  /// Removes a frame from the sums, because its last event is durable.
  void finish(const Entry& entry);
  Entry& entry(Ticket ticket) { return entries_[ticket - first_]; }
  std::optional<Watermark>& watermark_of(std::size_t stream);
  void move_watermark(std::size_t stream, const Watermark& watermark);
  bool has_room() const { return entries_.size() < limits_.frames && bytes_ < limits_.bytes; }
  /// Drops the finished prefix and moves the watermark. Returns the functions to call because there
  /// is room.
  std::vector<std::function<void()>> advance();

  const Limits limits_;
  const OnFinished on_finished_;
  mutable std::mutex mutex_;
  std::condition_variable fewer_;
  std::deque<Entry> entries_;
  std::size_t unfinished_ = 0;  // the number of unfinished entries
  /// The unfinished entries of an account.
  struct Use {
    std::size_t frames = 0;
    std::size_t bytes = 0;
  };
  boost::unordered_flat_map<std::uint64_t, Use> accounts_;
  Ticket first_ = 0;                                  // the ticket of entries_.front()
  std::size_t bytes_ = 0;                             // the bytes of unfinished entries
  std::vector<std::optional<Watermark>> watermarks_;  // by stream
  Timestamp newest_committed_{};                      // the epoch if there is none
  LatencyHistogram latency_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace skua::pipeline

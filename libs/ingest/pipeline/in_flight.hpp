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

/// The frames of one source (or of several that stand by for each other) between being read and
/// being durable, in the order they were read. It is three things at once:
/// - the **watermark**: the end of the contiguous finished prefix is what may be saved as cursor;
/// - the **bound on memory**: when it is full nothing more is admitted, and the source stops
/// reading;
/// - what a stop waits for.
///
///   read     1 2 3 4 5        finished: 1 2 4        watermark: 2
///   ... 3 finishes                                   watermark: 4
///
/// Any thread. A frame finishes when all events it was decoded into have: as rows, as dead letters,
/// or as counted drops.
class InFlightList {
 public:
  struct Limits {
    /// Those included that have finished, but for which one before them has not.
    std::size_t frames = 100'000;
    /// Unfinished frames only: finished ones are no longer in memory, and must not exclude others
    /// while an earlier one is slow.
    std::size_t bytes = std::size_t{64} << 20;

    /// The share of one account: one of so many parts of the frames and of the bytes, of unfinished
    /// frames.
    std::size_t frame_parts = 32;
    std::size_t byte_parts = 8;
  };
  /// Names a frame until it has finished.
  using Ticket = std::uint64_t;

  struct Watermark {
    std::int64_t seq = 0;
    /// When the host made that frame; the epoch when it gave no time.
    Timestamp time;
  };

  /// Called with the tickets of frames that have finished, on the thread that finished them,
  /// without locks.
  using OnFinished = std::function<void(std::span<const Ticket>)>;

  explicit InFlightList(Limits limits, OnFinished on_finished = nullptr)
      : limits_(limits), on_finished_(std::move(on_finished)) {}

  /// The properties of a frame that is to be admitted.
  struct Frame {
    /// The index of the stream, if several are read one after the other with numbers of their own.
    /// The watermark of a stream also waits for earlier frames of the others.
    std::size_t stream = 0;
    /// 0: it has none, then it holds the watermark back but does not move it.
    std::int64_t seq = 0;
    std::size_t bytes = 0;
    /// When it was read.
    Timestamp received_at{};
    /// The hash of its account; 0: it names none.
    std::uint64_t account = 0;
  };

  /// Takes a place at the end. Nothing: no credit, ask again after `when_room`.
  std::optional<Ticket> admit(const Frame& frame);

  /// Whether a further frame of this account stays within the account's share.
  bool has_share(std::uint64_t account, std::size_t bytes) const;

  /// The source has reset its sequence numbers: the watermark is 0 until a frame that is admitted
  /// after this call has finished. Earlier frames no longer move it.
  void restart(std::size_t stream = 0);

  /// All of this stream up to here is durable, by way of another stream: the watermark may stand
  /// there, unless it is beyond.
  void pass(std::size_t stream, const Watermark& watermark);

  /// Of a frame that has not finished.
  std::size_t stream_of(Ticket ticket) const;

  /// Says when the host made a frame that is decoded later, as when it waits for a key first.
  void made_at(Ticket ticket, Timestamp time);

  /// Says into how many events a frame was decoded, once. None: it has finished. Returns when the
  /// frame was read.
  Timestamp decoded(Ticket ticket, std::size_t events, Timestamp time);

  /// Whether that was said, or the frame has finished.
  bool is_decoded(Ticket ticket) const;

  /// Finishes one event of each ticket (a ticket may stand there several times), at `now`.
  void finish(std::span<const Ticket> tickets, Timestamp now);

  /// From reading a frame to the end of its last event.
  const LatencyHistogram& latency() const { return latency_; }

  /// Nothing until the first frame with a seq has finished.
  std::optional<Watermark> watermark(std::size_t stream = 0) const;

  /// Calls `wake` once there is room again, or at once when there is; from any thread, without
  /// locks.
  void when_room(std::function<void()> wake);

  /// The distance between the stream and the durable position.
  struct Backlog {
    /// Frames that have not finished.
    std::size_t waiting = 0;
    // When the host made a frame. A time more than 5 minutes after it was read does not count.
    /// The newest frame of which all events are durable; those without events do not count, because
    /// they finish though nothing can be committed.
    std::optional<Timestamp> newest_committed;
    /// The oldest frame that has not finished, if its time is known yet.
    std::optional<Timestamp> oldest_waiting;
  };
  Backlog backlog() const;

  std::size_t frames() const;
  /// Of these, those that have not finished; the others wait for one before them.
  std::size_t unfinished() const;
  /// Of the frames that have not finished.
  std::size_t bytes() const;

  /// All frames with smaller tickets have finished.
  Ticket first_unfinished() const;
  /// The one that the next frame gets.
  Ticket next_ticket() const;

  /// Waits until no more than so many frames are in flight that have not finished. False: the
  /// deadline came first.
  bool wait_until_at_most(std::size_t frames, std::chrono::steady_clock::time_point deadline);
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return wait_until_at_most(0, deadline);
  }

 private:
  struct Entry {
    Frame frame;
    Timestamp time;
    std::size_t remaining;  // events; kUndecoded before `decoded`
  };
  static constexpr std::size_t kUndecoded = static_cast<std::size_t>(-1);

  static bool has_credible_time(const Entry& entry);
  /// The last event of a frame is durable.
  void finish(const Entry& entry);
  Entry& entry(Ticket ticket) { return entries_[ticket - first_]; }
  std::optional<Watermark>& watermark_of(std::size_t stream);
  void move_watermark(std::size_t stream, const Watermark& watermark);
  bool has_room() const { return entries_.size() < limits_.frames && bytes_ < limits_.bytes; }
  /// Drops the finished prefix and moves the watermark. Returns whom to wake.
  std::vector<std::function<void()>> advance();

  const Limits limits_;
  const OnFinished on_finished_;
  mutable std::mutex mutex_;
  std::condition_variable fewer_;
  std::deque<Entry> entries_;
  std::size_t unfinished_ = 0;  // of the entries
  /// Of the unfinished entries of an account.
  struct Use {
    std::size_t frames = 0;
    std::size_t bytes = 0;
  };
  boost::unordered_flat_map<std::uint64_t, Use> accounts_;
  Ticket first_ = 0;                                  // ticket of entries_.front()
  std::size_t bytes_ = 0;                             // of the unfinished ones
  std::vector<std::optional<Watermark>> watermarks_;  // by stream
  Timestamp newest_committed_{};                      // the epoch: none
  LatencyHistogram latency_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace skua::pipeline

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "event/frame_decoder.hpp"
#include "event/jetstream_message.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// One event as a Jetstream sends it, in both versions.
struct JetstreamEvent {
  std::int64_t seq = 0;
  /// The time is unique, and greater than that of the previous event.
  std::int64_t time_us = 0;
  std::string_view kind;  // commit, identity, account, sync: a literal
  std::string did;
  std::string collection;  // only for a commit
  std::string v1;          // empty: absent in v1 (#sync)
  std::string v2;          // the frame: {"$type":"message","payload":{...}}
};

/// The newest `window_bytes` of the events of a Jetstream. Dishonest messages, and messages of
/// hosts about accounts of other hosts, are missing, because the relay has dropped them. One
/// thread.
class JetstreamLog {
 public:
  JetstreamLog(const Network& network, std::size_t window_bytes)
      : network_(network), window_bytes_(window_bytes) {}

  void hear(std::size_t host, const Message& message);

  /// The kept events have the seqs from `begin` to before `end`.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(events_.size()); }
  const JetstreamEvent& at(std::int64_t seq) const {
    return events_[static_cast<std::size_t>(seq - begin_)];
  }
  /// Returns the seq of the first event at that time or later; `end()` if there is none.
  std::int64_t seq_at(std::int64_t time_us) const;

  /// Registers a reader that waits for more events, with the function that wakes the reader.
  void join(int number, std::function<void()> wake) { readers_[number] = std::move(wake); }
  void part(int number) { readers_.erase(number); }

 private:
  void add(JetstreamEvent event);
  /// Adds a #sync message. `bytes` is its frame.
  void add_sync(const event::DecodedFrame& frame, ByteView bytes);
  /// Returns the time of the next event, for a frame.
  std::int64_t next_time_us(const event::DecodedFrame& frame) const;

  const Network& network_;
  const std::size_t window_bytes_;
  std::deque<JetstreamEvent> events_;
  std::int64_t begin_ = 1;
  std::size_t bytes_ = 0;
  std::int64_t last_time_us_ = 0;
  std::int64_t heard_ = 0;
  event::FrameDecoder decoder_;
  event::JetstreamWriter writer_;
  atproto::Document sync_body_;  // kept only for its memory
  std::map<int, std::function<void()>> readers_;
};

}  // namespace skua::sim

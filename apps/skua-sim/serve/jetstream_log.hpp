#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "event/frame_decoder.hpp"
#include "event/jetstream_json.hpp"
#include "world/message.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// One event as a Jetstream sends it, in both dialects.
struct JetstreamEvent {
  std::int64_t seq = 0;
  /// Unique, and greater than that of the event before.
  std::int64_t time_us = 0;
  std::string_view kind;  // commit, identity, account, sync: a literal
  std::string did;
  std::string collection;  // of a commit
  std::string v1;          // empty: v1 does not have it (#sync)
  std::string v2;          // the frame: {"$type":"message","payload":{...}}
};

/// What a Jetstream has seen of the network, the newest `window_bytes` of it. What no honest host
/// says, and what a host says of an account that is not there, its relay has dropped. One thread.
class JetstreamLog {
 public:
  JetstreamLog(const Network& network, std::size_t window_bytes)
      : network_(network), window_bytes_(window_bytes) {}

  void hear(std::size_t host, const Message& message);

  /// Seqs that are kept: from `begin` on, below `end`.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(events_.size()); }
  const JetstreamEvent& at(std::int64_t seq) const {
    return events_[static_cast<std::size_t>(seq - begin_)];
  }
  /// The first event of that time or later; `end()` where there is none.
  std::int64_t seq_at(std::int64_t time_us) const;

  /// Whoever waits for more, and how it is woken.
  void join(int number, std::function<void()> wake) { readers_[number] = std::move(wake); }
  void part(int number) { readers_.erase(number); }

 private:
  void add(JetstreamEvent event);
  void add_sync(const event::DecodedFrame& frame, ByteView bytes);

  const Network& network_;
  const std::size_t window_bytes_;
  std::deque<JetstreamEvent> events_;
  std::int64_t begin_ = 1;
  std::size_t bytes_ = 0;
  std::int64_t last_time_us_ = 0;
  std::int64_t heard_ = 0;
  event::FrameDecoder decoder_;
  event::JetstreamWriter writer_;
  atproto::Document scratch_;
  std::map<int, std::function<void()>> readers_;
};

}  // namespace skua::sim

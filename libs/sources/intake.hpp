#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "transport/frame_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

/// Takes a source's messages into the pipeline, and knows where its stream goes on. Lives on its
/// client's thread; the figures may be read from any.
class Intake : public transport::FrameSink {
 public:
  /// What a client of this source is made with.
  virtual transport::StreamClientOptions stream() = 0;
  /// Before the client starts.
  virtual void attach(transport::StreamClient& /*client*/) {}

  virtual bool connected() const = 0;
  /// Times that the source's numbers began anew.
  virtual std::uint64_t restarts() const { return 0; }
  /// Numbers missing between what was asked for and what came.
  virtual std::uint64_t skipped() const { return 0; }

  /// After which position this run began to read; nothing: nothing came yet, or it has none.
  std::optional<std::int64_t> began_after() const {
    const std::int64_t position = began_after_;
    return position < 0 ? std::nullopt : std::optional(position);
  }

 protected:
  /// The first call counts.
  void begins_after(std::int64_t position) {
    std::int64_t none = -1;
    began_after_.compare_exchange_strong(none, position);
  }

 private:
  std::atomic<std::int64_t> began_after_{-1};
};

}  // namespace skua::sources

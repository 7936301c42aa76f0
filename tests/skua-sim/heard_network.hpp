#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim::test_cases {

/// A message as it was heard.
struct Heard {
  std::size_t host;
  std::shared_ptr<const Message> message;
};

/// A frame's two values, for tests that look inside.
class OpenFrame {
 public:
  explicit OpenFrame(Bytes frame);

  std::string type() const;
  atproto::Value body() const { return body_.root(); }
  atproto::Value field(std::string_view name) const { return body().find(name).value(); }
  const Bytes& bytes() const { return frame_; }

 private:
  Bytes frame_;
  atproto::Document header_;
  atproto::Document body_;
};

/// A network whose messages are kept, in time that passes by a millisecond a step.
class HeardNetwork {
 public:
  explicit HeardNetwork(const NetworkSettings& settings,
                        std::function<void(const Heard&)> listen = {});

  /// Returns the events of these steps.
  std::size_t steps(std::size_t count);
  bool provoke(Hostility kind) { return network_.provoke(kind, now_); }

  Network& network() { return network_; }
  Timestamp now() const { return now_; }
  const std::vector<Heard>& heard() const { return heard_; }
  /// The frame as a relay sends it, numbered by its place.
  Bytes frame(std::size_t index) const {
    return numbered(*heard_[index].message, static_cast<std::int64_t>(index) + 1);
  }
  OpenFrame open(std::size_t index) const { return OpenFrame(frame(index)); }

 private:
  std::vector<Heard> heard_;
  std::function<void(const Heard&)> listen_;
  Timestamp now_;
  Network network_;
};

/// Twelve accounts on three hosts, odd things four times as often as in the stress suite.
NetworkSettings small_settings(std::uint64_t seed);

}  // namespace skua::sim::test_cases

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::sim {

/// Something that goes wrong when a certain frame is about to be sent.
struct Fault {
  enum class Kind : std::uint8_t {
    /// The TCP connection is dropped before the frame.
    Cut,
    /// Nothing more is sent, for `delay` or, when that is zero, until the client leaves.
    Stall,
    /// The frame is sent with one byte changed.
    Corrupt,
    /// From this frame on every frame of the connection is sent `delay` late.
    Slow,
    /// An error frame with `name` is sent instead, and the websocket closed.
    Error,
  };

  Kind kind = Kind::Cut;
  /// `at` is a seq, not a frame's number from 1.
  bool by_seq = false;
  std::int64_t at = 0;
  std::chrono::milliseconds delay{0};
  std::string name;
};

/// `cut`, `stall`, ...
std::string_view kind_name(Fault::Kind kind);

/// Reads the value of a fault's flag: `N` or `seq:N`, with `:SECONDS` (optional) for a stall, `:MS`
/// for slow, `:NAME` for an error. Nothing: it is not of that form.
std::optional<Fault> parse_fault(Fault::Kind kind, std::string_view text);

/// The faults that are still to come. Each happens once in the life of the relay, so that a client
/// that comes back gets past it.
class FaultPlan {
 public:
  explicit FaultPlan(std::vector<Fault> faults) : faults_(std::move(faults)) {}

  /// Takes out those that fall on this frame, in the order they were given. `number` counts from 1.
  std::vector<Fault> take(std::size_t number, std::optional<std::int64_t> seq);

 private:
  std::vector<Fault> faults_;
};

}  // namespace skua::sim

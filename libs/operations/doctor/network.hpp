#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "doctor/finding.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/http_client.hpp"
#include "transport/stream_client.hpp"

namespace skua::doctor {

/// Tries once to open a websocket to a source, on its own thread. Reads no message.
class StreamProbe final : private transport::FrameSink {
 public:
  /// Starts the attempt. `limit` covers name look-up, TCP, TLS and websocket together. Throws
  /// std::runtime_error if the CA file cannot be used.
  StreamProbe(transport::Endpoint source, const std::string& ca_file,
              std::chrono::milliseconds limit);

  /// Waits for the result. Returns why the websocket was not opened; empty if it was.
  std::string wait();

 private:
  bool try_accept(transport::RawFrame& /*frame*/) override { return false; }
  void when_room(std::function<void()> /*wake*/) override {}
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

  void end(const std::string& failure);

  const std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// The result; nothing until it is known.
  std::optional<std::string> failure_;
  // The client must be the last member, because its thread uses the other members.
  transport::StreamClient client_;
};

/// A host that Skua needs, and a cheap request to this host.
struct NetworkTarget {
  enum class Kind : std::uint8_t { Source, Plc };
  Kind kind = Kind::Source;
  /// The group of a source: another source of the group replaces it if it fails. Empty if no source
  /// does.
  std::string group = {};
  /// The name of the source, or `PLC directory`.
  std::string check = {};
  /// An http or https URL without credentials.
  std::string url = {};
  /// The endpoint of the source's websocket, if one more client may open it; otherwise nothing, and
  /// no websocket is tried.
  std::optional<transport::Endpoint> stream = std::nullopt;
};

/// The result of the requests to a host.
struct NetworkAnswer {
  /// The HTTP status, or an error of transport::errc.
  Result<unsigned> status = 0U;
  std::chrono::milliseconds took{0};
  /// Why the websocket was not opened; empty if it was opened; nothing if none was tried.
  std::optional<std::string> stream_failure = std::nullopt;
  /// The host's clock minus the local clock, by the header Date; nothing if the header is absent,
  /// or the answer was too slow to compare.
  std::optional<std::chrono::microseconds> clock_ahead = std::nullopt;
};

/// Requests all targets at the same time, with name look-up, TCP, TLS and HTTP, and opens their
/// websockets. The limits are those of `options`; a slower answer is an error. The answers have the
/// order of the targets.
std::vector<NetworkAnswer> ask_network(const std::vector<NetworkTarget>& targets,
                                       const transport::HttpClientOptions& options,
                                       const Clock& clock);

/// Judges the answers, which must have the order and size of `targets`. A target with a websocket
/// works if the websocket can be opened. Any other target works if its HTTP status is below 500,
/// because hosts differ in the requests that they know. A source that fails is a warning if another
/// source of its group works. Pure.
Findings judge_network(const std::vector<NetworkTarget>& targets,
                       const std::vector<NetworkAnswer>& answers);

}  // namespace skua::doctor

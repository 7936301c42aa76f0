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

/// One attempt to open a websocket to a source, on a thread of its own. It reads no message.
class StreamProbe final : private transport::FrameSink {
 public:
  /// Begins. `limit`: for name look-up, TCP, TLS and websocket together. Throws std::runtime_error
  /// if the CA file cannot be used.
  StreamProbe(transport::Endpoint source, const std::string& ca_file,
              std::chrono::milliseconds limit);

  /// Waits for the result: why there is no websocket; empty: it was opened.
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
  /// The result; nothing: not yet.
  std::optional<std::string> failure_;
  // The last member: its thread uses the others.
  transport::StreamClient client_;
};

/// A host that Skua needs, and a cheap request to it.
struct NetworkTarget {
  enum class Kind : std::uint8_t { Source, Plc };
  Kind kind = Kind::Source;
  /// Of sources: another source of the same group replaces it if it fails. Empty: none does.
  std::string group = {};
  /// The name of the source, or `PLC directory`.
  std::string check = {};
  /// http or https, without credentials.
  std::string url = {};
  /// Where the source offers a websocket that one more client may open; nothing: do not try.
  std::optional<transport::Endpoint> stream = std::nullopt;
};

/// The result of the request.
struct NetworkAnswer {
  /// The status, or an error of transport::errc.
  Result<unsigned> status = 0U;
  std::chrono::milliseconds took{0};
  /// Why the websocket was not opened; empty: it was; nothing: there is none.
  std::optional<std::string> stream_failure = std::nullopt;
  /// By the header Date; nothing: absent, or the answer was too slow to compare.
  std::optional<std::chrono::microseconds> clock_ahead = std::nullopt;
};

/// Requests all targets at the same time, with name look-up, TCP, TLS and HTTP, and opens their
/// websockets. The limits are those of `options`; an answer that takes longer is an error. In the
/// order of the targets.
std::vector<NetworkAnswer> ask_network(const std::vector<NetworkTarget>& targets,
                                       const transport::HttpClientOptions& options,
                                       const Clock& clock);

/// `answers` has the order and size of `targets`. A target with a websocket works if the websocket
/// can be opened. Another one works if its HTTP status is below 500, because hosts differ in the
/// requests that they know. A source that fails is a warning if another one of its group works.
/// Pure.
Findings judge_network(const std::vector<NetworkTarget>& targets,
                       const std::vector<NetworkAnswer>& answers);

}  // namespace skua::doctor

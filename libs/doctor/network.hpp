#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "doctor/finding.hpp"
#include "transport/http_client.hpp"

namespace skua::doctor {

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
};

/// The result of the request.
struct NetworkAnswer {
  /// The status, or an error of transport::errc.
  Result<unsigned> status = 0U;
  std::chrono::milliseconds took{0};
  /// By the header Date; nothing: absent, or the answer was too slow to compare.
  std::optional<std::chrono::microseconds> clock_ahead;
};

/// Requests all targets at the same time, with name look-up, TCP, TLS and HTTP. The limits are
/// those of `options`; an answer that takes longer is an error. In the order of the targets.
std::vector<NetworkAnswer> ask_network(const std::vector<NetworkTarget>& targets,
                                       const transport::HttpClientOptions& options,
                                       const Clock& clock);

/// `answers` has the order and size of `targets`. A source that fails is a warning if another one
/// of its group answers. Any HTTP status below 500 shows that the host works, because hosts differ
/// in the requests that they know. Pure.
Findings judge_network(const std::vector<NetworkTarget>& targets,
                       const std::vector<NetworkAnswer>& answers);

}  // namespace skua::doctor

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/metric.hpp"

namespace skua::admin {

/// How a request to the admin API ended.
enum class RequestEnd : std::uint8_t {
  Executed,
  /// The arguments were wrong, or the state did not allow the action.
  Rejected,
  /// The database did not answer, or too many actions waited.
  Failed,
  /// There was no token, or a wrong one.
  Unauthorized,
};
inline constexpr std::size_t kRequestEnds = 4;
const char* name_of_request_end(std::size_t index);

/// Of the status of an answer.
RequestEnd end_of_request(unsigned status);

/// Metrics of the admin API. Any thread.
struct AdminMetrics {
  CounterFamily<kRequestEnds> requests{"",         "skua_admin_requests_total",
                                       "requests", "Requests to the admin API, by result",
                                       "result",   name_of_request_end};
};

}  // namespace skua::admin

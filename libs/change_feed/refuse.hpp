#pragma once

#include "change_feed/change_reader.hpp"
#include "http_server/exchange.hpp"

namespace skua::change_feed {

/// Answers a request for a stream with an error, and counts it. Any thread.
inline void refuse(FeedMetrics& metrics, http_server::Exchange& exchange, const FeedError& error) {
  count_error(metrics, error.error);
  exchange.answer(http_server::error_response(error.status, error.error, error.message));
}

}  // namespace skua::change_feed

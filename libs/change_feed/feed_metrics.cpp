#include "change_feed/feed_metrics.hpp"

#include <algorithm>

namespace skua::change_feed {

const char* name_of_stream_form(std::size_t index) {
  switch (static_cast<StreamForm>(index)) {
    case StreamForm::ServerSentEvents:
      return "sse";
    case StreamForm::Websocket:
      return "websocket";
    case StreamForm::Jetstream:
      return "jetstream";
  }
  return "";
}

const char* name_of_feed_error(std::size_t index) {
  return kFeedErrors.at(index);
}

void count_error(FeedMetrics& metrics, std::string_view error) {
  const auto found = std::ranges::find(kFeedErrors, error);
  if (found == kFeedErrors.end()) return;
  metrics.errors.at(static_cast<std::size_t>(found - kFeedErrors.begin())) += 1;
}

const char* name_of_batch_end(std::size_t index) {
  switch (static_cast<BatchEnd>(index)) {
    case BatchEnd::Acknowledged:
      return "acknowledged";
    case BatchEnd::Failed:
      return "failed";
    case BatchEnd::Unavailable:
      return "unavailable";
    case BatchEnd::LeaseLost:
      return "lease_lost";
  }
  return "";
}

}  // namespace skua::change_feed

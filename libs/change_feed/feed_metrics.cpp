#include "change_feed/feed_metrics.hpp"

namespace skua::change_feed {

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

#include "tuning.hpp"

#include <algorithm>
#include <thread>

namespace skua::cli {

std::size_t decode_threads(const Settings& settings, const std::optional<std::string>& flag,
                           bool is_verified) {
  if (const auto found = settings.find(kDecodeThreads, flag)) {
    return static_cast<std::size_t>(whole_number(*found, 1, 64));
  }
  const unsigned cores = std::thread::hardware_concurrency();
  return std::max(1U, is_verified ? cores : cores / 2);
}

std::size_t consumer_threads(const Settings& settings, const std::optional<std::string>& flag) {
  if (const auto found = settings.find(kConsumerThreads, flag)) {
    return static_cast<std::size_t>(whole_number(*found, 0, 64));
  }
  return 2;
}

std::chrono::seconds stats_interval(const Settings& settings,
                                    const std::optional<std::string>& flag) {
  if (const auto found = settings.find(kStatsInterval, flag)) {
    return std::chrono::seconds(whole_number(*found, 1, 86'400));
  }
  return std::chrono::seconds(5);
}

}  // namespace skua::cli

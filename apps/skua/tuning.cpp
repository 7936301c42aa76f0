#include "tuning.hpp"

#include <algorithm>
#include <thread>

namespace skua::cli {

std::size_t decode_threads(const Settings& settings, const std::optional<std::string>& flag) {
  if (const auto found = settings.find(kDecodeThreads, flag)) {
    return static_cast<std::size_t>(whole_number(*found, 1, 64));
  }
  return std::max(1U, std::thread::hardware_concurrency() / 2);
}

std::chrono::seconds figures_every(const Settings& settings,
                                   const std::optional<std::string>& flag) {
  if (const auto found = settings.find(kFiguresEvery, flag)) {
    return std::chrono::seconds(whole_number(*found, 1, 86'400));
  }
  return std::chrono::seconds(5);
}

}  // namespace skua::cli

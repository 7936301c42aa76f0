#include "base/log.hpp"

#include <array>
#include <mutex>
#include <string_view>

#include <spdlog/sinks/stdout_color_sinks.h>

namespace skua {
namespace {

/// Guards "look up, else make" and the level that new loggers take.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// One sink for all loggers, so that lines of different threads stay whole.
const spdlog::sink_ptr& stderr_sink() {
  static const spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  return sink;
}

constexpr std::array<std::string_view, 6> kLevels = {"trace", "debug", "info",
                                                     "warn",  "error", "off"};

}  // namespace

std::shared_ptr<spdlog::logger> logger(const std::string& component) {
  const std::scoped_lock lock(registry_mutex());
  if (auto known = spdlog::get(component)) return known;
  auto made = std::make_shared<spdlog::logger>(component, stderr_sink());
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %n: %v", spdlog::pattern_time_type::utc);
  made->set_level(spdlog::get_level());
  made->flush_on(spdlog::level::warn);
  spdlog::register_logger(made);
  return made;
}

bool set_log_level(const std::string& level) {
  for (const std::string_view word : kLevels) {
    if (word != level) continue;
    const std::scoped_lock lock(registry_mutex());
    spdlog::set_level(spdlog::level::from_str(level));
    return true;
  }
  return false;
}

}  // namespace skua

#include "base/log.hpp"

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace skua {
namespace {

/// Guards "look up, else make" and the level that new loggers take.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Colours only where the user does not object (no-color.org).
spdlog::color_mode color_mode() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  return is_refused ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

/// stderr, with what is done around each line.
class FramedSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void set_frame(std::function<void()> before, std::function<void()> after) {
    const std::scoped_lock lock(mutex_);
    before_ = std::move(before);
    after_ = std::move(after);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (before_) before_();
    terminal_.log(message);
    if (after_) after_();
  }
  void flush_() override { terminal_.flush(); }
  void set_pattern_(const std::string& pattern) override { terminal_.set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    terminal_.set_formatter(std::move(formatter));
  }

 private:
  spdlog::sinks::stderr_color_sink_mt terminal_{color_mode()};
  std::function<void()> before_;
  std::function<void()> after_;
};

/// One sink for all loggers, so that lines of different threads stay whole.
const std::shared_ptr<FramedSink>& stderr_sink() {
  static const auto sink = std::make_shared<FramedSink>();
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

void set_log_frame(std::function<void()> before, std::function<void()> after) {
  stderr_sink()->set_frame(std::move(before), std::move(after));
}

}  // namespace skua

#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include "base/guarded.hpp"
#include "base/periodic_thread.hpp"
#include "base/problem.hpp"
#include "base/seeded_hash.hpp"
#include "base/text.hpp"

namespace skua {

namespace {

/// Guards the search for a logger, its creation, and the level that new loggers get.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Uses no colours if the environment has NO_COLOR (no-color.org).
spdlog::color_mode color_mode() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  return is_refused ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

/// Calls a function at the end of a scope, also after an exception.
class After {
 public:
  explicit After(const std::function<void()>& call) : call_(call) {}
  ~After() {
    if (call_) call_();
  }
  After(const After&) = delete;
  After& operator=(const After&) = delete;

 private:
  const std::function<void()>& call_;
};

/// Writes to stderr and calls the functions of `set_log_frame` around each line.
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
    const After after(after_);
    terminal_.log(message);
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

constexpr std::array<std::string_view, 6> kLevels = {"trace", "debug", "info",
                                                     "warn",  "error", "off"};

/// Returns the word of a level. A critical message, which no component logs, counts as an error.
std::string_view word_of(spdlog::level::level_enum level) {
  return kLevels.at(std::min<std::size_t>(level, spdlog::level::err));
}

std::unique_ptr<spdlog::formatter> text_formatter() {
  return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %n: %v",
                                                     spdlog::pattern_time_type::utc);
}

/// Formats each message as a line of JSON.
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const std::string json =
        json_line({.time = std::chrono::floor<std::chrono::microseconds>(message.time),
                   .level = word_of(message.level),
                   .component = {message.logger_name.data(), message.logger_name.size()},
                   .message = {message.payload.data(), message.payload.size()}});
    line.append(json.data(), json.data() + json.size());
    line.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

std::atomic<bool> is_json{false};

/// All loggers share one sink, so that lines of different threads are not mixed.
const std::shared_ptr<FramedSink>& stderr_sink() {
  static const auto sink = [] {
    auto made = std::make_shared<FramedSink>();
    made->set_formatter(text_formatter());
    return made;
  }();
  return sink;
}

/// The largest number of bytes of a message.
constexpr std::size_t kMessage = 1'000;

using SteadyClock = std::chrono::steady_clock;

Guarded<LogThrottle>& throttle() {
  static Guarded<LogThrottle> throttle;
  return throttle;
}

void write_summaries(const std::vector<LogThrottle::Summary>& summaries) {
  for (const LogThrottle::Summary& summary : summaries) {
    const auto level = static_cast<spdlog::level::level_enum>(summary.level);
    logger(summary.logger)->log(level, spdlog::string_view_t(summary.text));
  }
}

/// Appends a JSON string (RFC 8259, section 7).
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\ufffd";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text.front();
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += out.empty() ? '{' : ',';
  append_quoted(out, name);
  out += ':';
  append_quoted(out, value);
}

/// Returns the problem whose code ends the message, as in `... [database-down]`, or null if there
/// is none.
const Problem* problem_of(std::string_view message) {
  const std::size_t open = message.rfind(" [");
  if (open == message.npos || !message.ends_with(']')) return nullptr;
  return find_problem(message.substr(open + 2, message.size() - open - 3));
}

}  // namespace

void Logger::write(spdlog::level::level_enum level, fmt::string_view format,
                   fmt::format_args args) {
  if (!should_log(level)) return;
  const std::string message = printable(fmt::vformat(format, args), kMessage);
  const LogThrottle::Site site{name(), level, std::string(format.data(), format.size())};
  const auto now = SteadyClock::now();
  std::vector<LogThrottle::Summary> summaries;
  const bool is_written = throttle().with([&](LogThrottle& all) {
    summaries = all.due(now);
    return all.admit(site, message, now);
  });
  write_summaries(summaries);
  if (is_written) log(level, spdlog::string_view_t(message));
}

void Logger::write_detail(spdlog::level::level_enum level, fmt::string_view format,
                          fmt::format_args args) {
  if (!should_log(level)) return;
  log(level, spdlog::string_view_t(printable(fmt::vformat(format, args), kMessage)));
}

LogSummaries::LogSummaries()
    : thread_(periodic_thread(std::chrono::seconds(1), [] {
        write_summaries(
            throttle().with([](LogThrottle& log) { return log.due(SteadyClock::now()); }));
      })) {}

LogSummaries::~LogSummaries() {
  thread_.request_stop();
  thread_.join();
  write_summaries(throttle().with([](LogThrottle& log) { return log.rest(SteadyClock::now()); }));
}

std::shared_ptr<Logger> logger(const std::string& component) {
  const std::scoped_lock lock(registry_mutex());
  if (auto known = spdlog::get(component)) return std::static_pointer_cast<Logger>(known);
  auto made = std::make_shared<Logger>(component, stderr_sink());
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

bool set_log_format(std::string_view format) {
  if (format != "text" && format != "json") return false;
  is_json = format == "json";
  stderr_sink()->set_formatter(is_json ? std::make_unique<JsonFormatter>() : text_formatter());
  return true;
}

bool log_is_json() {
  return is_json;
}

void set_log_frame(std::function<void()> before, std::function<void()> after) {
  stderr_sink()->set_frame(std::move(before), std::move(after));
}

bool LogThrottle::admit(const Site& site, std::string_view message, Time now) {
  const auto [place, is_new] = windows_.try_emplace(site);
  Window& window = place->second;
  if (is_new) {
    window.begins = now;
    next_end_ = std::min(next_end_, now + kWindow);
  }
  const std::size_t hash = seeded_hash(message);
  const bool is_repeated =
      std::find(window.written.begin(), window.written.end(), hash) != window.written.end();
  if (!window.is_muted && !is_repeated && window.written.size() < kLines) {
    window.written.push_back(hash);
    return true;
  }
  ++window.left_out;
  window.last_left_out = message;
  return false;
}

std::vector<LogThrottle::Summary> LogThrottle::due(Time now) {
  std::vector<Summary> summaries;
  if (now < next_end_) return summaries;
  next_end_ = Time::max();
  for (auto place = windows_.begin(); place != windows_.end();) {
    Window& window = place->second;
    if (now >= window.begins + kWindow) {
      if (window.left_out == 0) {
        place = windows_.erase(place);
        continue;
      }
      summaries.push_back(summary_of(place->first, window, now));
      window = Window();
      window.begins = now;
      window.is_muted = true;
    }
    next_end_ = std::min(next_end_, window.begins + kWindow);
    ++place;
  }
  return summaries;
}

std::vector<LogThrottle::Summary> LogThrottle::rest(Time now) {
  std::vector<Summary> summaries;
  for (const auto& [site, window] : windows_) {
    if (window.left_out > 0) summaries.push_back(summary_of(site, window, now));
  }
  windows_.clear();
  next_end_ = Time::max();
  return summaries;
}

LogThrottle::Summary LogThrottle::summary_of(const Site& site, const Window& window, Time now) {
  const auto seconds = std::max(
      std::chrono::ceil<std::chrono::seconds>(now - window.begins).count(), std::int64_t{1});
  return {site.logger, site.level,
          fmt::format("{} ({} more like this in {} s)", window.last_left_out, window.left_out,
                      seconds)};
}

std::string json_line(const LogLine& line) {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(line.time);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string out;
  append_member(out, "time",
                fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                            fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                            (time - second).count()));
  append_member(out, "level", line.level);
  append_member(out, "component", line.component);
  append_member(out, "message", line.message);
  if (const Problem* found = problem_of(line.message)) append_member(out, "problem", found->code);
  out += '}';
  return out;
}

}  // namespace skua

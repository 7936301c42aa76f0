#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "settings.hpp"

// What the flags mean together: the mode, the flags that contradict it, and the values derived from
// them.

namespace skua::sim {
namespace {

/// Refuses flags that have no meaning in this mode.
void refuse(const CLI::App& app, std::initializer_list<const char*> flags, const char* why) {
  for (const auto* flag : flags) {
    if (app.count(flag) > 0) throw CLI::ValidationError(flag, why);
  }
}

void check_mode(const CLI::App& app, const Settings& settings) {
  using enum Settings::Mode;
  if (settings.mode != simulate)
    refuse(app, {"--tap", "--jetstream", "--labeler", "--second-relay"},
           "needs the simulated network");
  if (!settings.has_tap) {
    refuse(app, {"--tap-repos", "--tap-password", "--tap-retry"}, "needs --tap");
  }
  if (!settings.has_jetstream) refuse(app, {"--zstd-dictionary"}, "needs --jetstream");
  if (settings.mode != serve_capture) {
    refuse(app, {"--tls", "--host", "--ca-file", "--live-from", "--close-at-end"},
           "is for --serve only");
  } else {
    refuse(app,
           {"--write-capture", "--seed", "--accounts", "--records", "--records-spread", "--hosts",
            "--outsiders", "--outside-share", "--plc-delay", "--pds-delay", "--oddities",
            "--one-op-a-path", "--even", "--events", "--first-seq", "--window-mb", "--dump"},
           "has no effect with --serve");
    if (!settings.tls) refuse(app, {"--host", "--ca-file"}, "needs --tls");
  }
  if (settings.mode != write_capture) {
    refuse(app, {"--did-docs"}, "is for --write-capture only");
  } else {
    refuse(app,
           {"--port", "--log", "--first-seq", "--window-mb", "--inclusive", "--future-cursor",
            "--plc-delay", "--pds-delay", "--fault", "--fault-rate", "--cut-at", "--stall-at",
            "--slow-at", "--corrupt-at", "--error-at"},
           "has no effect with --write-capture");
    if (settings.simulation.events == 0) {
      throw CLI::ValidationError("--write-capture", "needs --events, how many");
    }
  }
}

void check_capture_faults(const Settings& settings) {
  const auto check = [](const Fault& fault) {
    if (fault_scope(fault.kind) == FaultScope::connection) return;
    throw CLI::ValidationError(
        "--fault", fmt::format("{} cannot be done to a capture: it needs the simulated network",
                               fault_name(fault.kind)));
  };
  for (const auto& planned : settings.faults) check(planned.fault);
  for (const auto& recurring : settings.fault_rates) check(recurring.fault);
}

std::uint64_t live_position(const std::string& words) {
  if (words == "end") return StreamBehaviour::kEnd;
  std::uint64_t number = 0;
  if (!CLI::detail::lexical_cast(words, number) || number == 0) {
    throw CLI::ValidationError("--live-from",
                               "'" + words + "' is neither a frame's number from 1 nor end");
  }
  return number - 1;
}

}  // namespace

void finish(const CLI::App& app, Settings& settings) {
  if (!settings.capture.empty()) {
    settings.mode = Settings::Mode::serve_capture;
  } else if (!settings.written_capture.empty()) {
    settings.mode = Settings::Mode::write_capture;
  }
  check_mode(app, settings);

  auto& behaviour = settings.behaviour;
  behaviour.future_cursor_error = settings.future_cursor == "error";
  settings.plc_delay = std::chrono::milliseconds(settings.plc_delay_ms);
  settings.pds_delay = std::chrono::milliseconds(settings.pds_delay_ms);
  settings.tap.full_network = settings.tap_repos == "all";
  settings.tap.retry_after =
      std::chrono::milliseconds(static_cast<std::int64_t>(settings.tap_retry_seconds * 1000));
  behaviour.live_from = StreamBehaviour::kEnd;
  if (settings.mode == Settings::Mode::serve_capture) {
    check_capture_faults(settings);
    behaviour.live_from = live_position(settings.live_from);
    behaviour.rate = settings.rate;
  } else if (settings.rate > 0) {
    settings.simulation.rate = settings.rate;
  }
  settings.simulation.window_bytes = settings.window_mb * 1024 * 1024;
}

}  // namespace skua::sim

#include "write_network_capture.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "world/write_capture.hpp"

namespace skua::sim {

void write_network_capture(const Settings& settings) {
  CaptureSettings wanted;
  wanted.network = settings.simulation.network;
  wanted.file = settings.written_capture;
  wanted.dump = settings.dump;
  wanted.did_docs = settings.did_docs;
  wanted.events = settings.simulation.events;
  if (settings.rate > 0) wanted.steps_per_second = settings.rate;
  const auto report = write_capture(wanted, [&](const CaptureReport& so_far) {
    std::cerr << fmt::format("{} of {} events, {:.0f} MB\n", so_far.events, wanted.events,
                             static_cast<double>(so_far.bytes) / 1e6);
  });
  const auto frames = static_cast<double>(std::max<std::uint64_t>(report.frames, 1));
  const nlohmann::ordered_json line = {
      {"file", settings.written_capture},
      {"frames", report.frames},
      {"events", report.events},
      {"bytes", report.bytes},
      {"mean_frame", static_cast<double>(report.bytes) / frames},
      {"preparing_seconds", report.preparing_seconds},
      {"seconds", report.seconds},
      {"frames_per_second", report.seconds > 0 ? frames / report.seconds : 0}};
  std::cout << line.dump() << std::endl;
}

}  // namespace skua::sim

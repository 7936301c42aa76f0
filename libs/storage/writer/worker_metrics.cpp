#include "writer/worker_metrics.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "records/reference.hpp"

namespace skua::writer {

namespace {

std::array<std::string, kWorkers> all_names() {
  std::array<std::string, kWorkers> names;
  for (const auto source : {event::EventSource::Live, event::EventSource::Backfill}) {
    const char* kind = source == event::EventSource::Live ? "live" : "backfill";
    for (const auto type : records::kRecordTypes) {
      for (std::size_t number = 0; number < kWorkersPerLane; ++number) {
        names.at(lane_index({source, type}) * kWorkersPerLane + number) =
            fmt::format("{} {} {}", kind, records::name_of(type), number);
      }
    }
  }
  return names;
}

}  // namespace

const char* worker_name(std::size_t index) {
  static const std::array<std::string, kWorkers> kNames = all_names();
  return kNames.at(index).c_str();
}

}  // namespace skua::writer

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/time.hpp"
#include "world/network.hpp"
#include "world/population.hpp"

namespace skua::sim {

/// Writes the files of Network::dump and creates the directory if necessary. Throws
/// std::runtime_error if it cannot be written, or if the records were not kept.
void dump_oracle(Population& population, const std::filesystem::path& directory);

struct CaptureSettings {
  /// The settings of the network. `write_capture` sets `keep_records` to true if there is a dump.
  NetworkSettings network;
  /// The capture, a new file. Its content depends only on the settings, byte for byte.
  std::filesystem::path file;
  /// The folder for the oracle; empty if there is no dump.
  std::filesystem::path dump;
  /// The file for the accounts' DID documents, a JSON array; empty if there is none.
  std::filesystem::path did_docs;
  /// The capture ends after the step that published this number of record operations and account or
  /// identity events.
  std::uint64_t events = 100'000;
  /// The time of the first step, and the number of steps per second after it. The time is
  /// simulated, so the program does not wait.
  Timestamp start = Timestamp(std::chrono::seconds(1'780'000'000));
  double steps_per_second = 1'000;
};

/// The progress, or the final result.
struct CaptureReport {
  std::uint64_t frames = 0;
  std::uint64_t events = 0;
  /// The size of the frames, without their length fields.
  std::uint64_t bytes = 0;
  /// The real time for creating the initial accounts and records, and for the frames.
  double preparing_seconds = 0;
  double seconds = 0;
};

/// Writes the frames that a relay of a simulated network would send to a capture, numbered from 1,
/// as fast as possible. `progress`, which may be empty, is called regularly. Throws
/// std::runtime_error if the file exists or cannot be written.
CaptureReport write_capture(const CaptureSettings& settings,
                            const std::function<void(const CaptureReport&)>& progress);

}  // namespace skua::sim

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/time.hpp"
#include "network.hpp"

namespace skua::sim {

struct CaptureSettings {
  /// `keep_records` is set by `write_capture`: true when there is a dump.
  NetworkSettings network;
  /// The capture. It must not exist: a capture follows from its settings, byte for byte.
  std::filesystem::path file;
  /// Where the oracle goes; empty: none.
  std::filesystem::path dump;
  /// Where the accounts' DID documents go, a JSON array; empty: nowhere.
  std::filesystem::path did_docs;
  /// Ends after the step in which this many record operations and account or identity events have
  /// been published.
  std::uint64_t events = 100'000;
  /// The time of the first step, and how many steps a second there are from then on. Nobody waits:
  /// the time is made up.
  Timestamp start = Timestamp(std::chrono::seconds(1'780'000'000));
  double steps_per_second = 1'000;
};

/// What has been written so far, or in the end.
struct CaptureReport {
  std::uint64_t frames = 0;
  std::uint64_t events = 0;
  /// Of frames, without their lengths in the file.
  std::uint64_t bytes = 0;
  /// Real time for the accounts and records that were there before the first frame, and for frames.
  double preparing_seconds = 0;
  double seconds = 0;
};

/// Writes what a relay would send of a made-up network to a capture, numbered from 1, as fast as
/// the machine can. `progress`, which may be empty, is called now and then. Throws
/// std::runtime_error when the file exists or cannot be written.
CaptureReport write_capture(const CaptureSettings& settings,
                            const std::function<void(const CaptureReport&)>& progress);

}  // namespace skua::sim

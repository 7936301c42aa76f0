#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "serve/fault.hpp"
#include "serve/stream_host.hpp"
#include "serve/tap_host.hpp"
#include "simulation.hpp"

namespace skua::sim {

/// The settings of the command line.
struct Settings {
  /// The mode follows from --serve and --write-capture; without both it is simulate.
  enum class Mode : std::uint8_t { simulate, serve_capture, write_capture };
  Mode mode = Mode::simulate;

  std::uint16_t port = 0;
  std::string log;
  StreamBehaviour behaviour;
  /// The delay of answers of the PLC directory and of the PDSes.
  std::chrono::milliseconds plc_delay{0};
  std::chrono::milliseconds pds_delay{0};
  /// The maximum number of entries of a page, which overrides a larger limit of the client.
  std::int64_t largest_page = 2'000;
  std::vector<PlannedFault> faults;
  std::vector<FaultRate> fault_rates;

  // The following settings are for serving a capture.
  std::string capture;
  bool tls = false;
  std::string host;
  std::string ca_file;

  bool has_jetstream = false;
  /// The file of the dictionary; if it is empty, there is no compression.
  std::string jetstream_dictionary;
  bool has_tap = false;
  TapOptions tap;
  bool has_labeler = false;

  // The following settings are for simulating, and for writing a capture.
  SimulationSettings simulation;
  std::string dump;
  std::string written_capture;
  std::string did_docs;

  // The following values have the form of the command line; `finish` converts them to the fields
  // above.
  std::string live_from = "1";
  std::string future_cursor = "silence";
  std::int64_t plc_delay_ms = 0;
  std::int64_t pds_delay_ms = 0;
  double tap_retry_seconds = 60;
  std::string tap_repos = "all";
  double rate = 0;
  std::size_t window_mb = 512;
};

/// Declares the flags, which write to `settings`, and the help with its examples. `settings` must
/// outlive the parse.
void describe(CLI::App& app, Settings& settings);

/// Converts the values of the command line. To be called after the parse. Throws
/// CLI::ValidationError if flags contradict each other.
void finish(const CLI::App& app, Settings& settings);

}  // namespace skua::sim

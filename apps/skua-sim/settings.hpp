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

/// What the command line says.
struct Settings {
  /// What the program is to do: a capture is given, one is asked for, or neither.
  enum class Mode : std::uint8_t { simulate, serve_capture, write_capture };
  Mode mode = Mode::simulate;

  std::uint16_t port = 0;
  std::string log;
  StreamBehaviour behaviour;
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  /// How long the PLC directory and the PDSes take to answer.
  std::chrono::milliseconds plc_delay{0};
  std::chrono::milliseconds pds_delay{0};
  /// Entries of a page of a list, whatever the client asks for.
  std::int64_t largest_page = 2'000;
  std::vector<PlannedFault> faults;
  std::vector<FaultRate> fault_rates;

  // To serve a capture.
  std::string capture;
  bool tls = false;
  std::string host;
  std::string ca_file;

  bool has_jetstream = false;
  /// A file; empty: no compression.
  std::string jetstream_dictionary;
  bool has_tap = false;
  TapOptions tap;
  bool has_labeler = false;

  // To simulate, and to write a capture.
  SimulationSettings simulation;
  std::string dump;
  std::string written_capture;
  std::string did_docs;

  // As they were written; `finish` turns them into what stands above.
  std::string live_from = "1";
  std::string future_cursor = "silence";
  double ping_seconds = 30;
  std::int64_t plc_delay_ms = 0;
  std::int64_t pds_delay_ms = 0;
  double tap_retry_seconds = 60;
  std::string tap_repos = "all";
  double rate = 0;
  std::size_t window_mb = 512;
  std::vector<std::string> schedules;
};

/// Adds the flags, which write to `settings`, and the help with its examples. `settings` must
/// outlive the parsing.
void describe(CLI::App& app, Settings& settings);

/// After the parsing: turns words into numbers. Throws CLI::ValidationError when flags do not fit
/// together.
void finish(const CLI::App& app, Settings& settings);

}  // namespace skua::sim

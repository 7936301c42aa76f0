#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "capture_relay.hpp"
#include "faults.hpp"

namespace skua::sim {

/// What the command line says.
struct Settings {
  std::string capture;
  std::uint16_t port = 0;
  bool tls = false;
  std::string host;
  std::string ca_file;
  std::string log;
  std::string live_from = "1";
  std::string future_cursor = "silence";
  sim::RelayBehaviour behaviour;
  double ping_seconds = 30;
  std::vector<sim::Fault> faults;
};

/// Adds the flags, which write to `settings`, and the help with its examples. `settings` must
/// outlive the parsing.
void describe(CLI::App& app, Settings& settings);

/// After the parsing: turns words into numbers. Throws CLI::ValidationError when flags do not fit
/// together.
void finish(Settings& settings);

}  // namespace skua::sim

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "serve_capture.hpp"
#include "settings.hpp"
#include "simulate.hpp"
#include "write_network_capture.hpp"

namespace {

namespace sim = skua::sim;

constexpr int kFailure = 1;
constexpr int kUsage = 2;

void run(const sim::Settings& settings) {
  using enum sim::Settings::Mode;
  switch (settings.mode) {
    case serve_capture:
      return sim::serve_capture(settings);
    case write_capture:
      return sim::write_network_capture(settings);
    case simulate:
      return sim::simulate(settings);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "A small AT network on loopback, for tests: simulates one, serves a capture as a relay does, "
      "or writes one.",
      "skua-sim");
  sim::Settings settings;
  try {
    sim::describe(app, settings);
    app.parse(argc, argv);
    sim::finish(app, settings);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  try {
    run(settings);
  } catch (const std::exception& error) {
    std::cerr << "skua-sim: " << error.what() << '\n';
    return kFailure;
  }
  return 0;
}

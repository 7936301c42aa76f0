#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_line/finish.hpp"
#include "command_line/unknown_word.hpp"
#include "modes.hpp"
#include "settings.hpp"

namespace {

namespace sim = skua::sim;
namespace command_line = skua::command_line;

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

int exit_code(int argc, char** argv) {
  CLI::App app(
      "A small AT network on loopback, for tests: simulates one, serves a capture as a relay does, "
      "or writes one.",
      "skua-sim");
  sim::Settings settings;
  try {
    sim::describe(app, settings);
    app.set_version_flag("-V,--version", "skua-sim " SKUA_VERSION, "Print the version and exit");
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (const auto problem = command_line::unknown_word(app, words)) {
      std::cerr << "skua-sim: " << *problem << '\n';
      return kUsage;
    }
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

}  // namespace

int main(int argc, char** argv) {
  return command_line::finish("skua-sim", exit_code(argc, argv));
}

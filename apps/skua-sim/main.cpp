#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <nlohmann/json.hpp>

#include "capture_index.hpp"
#include "capture_relay.hpp"
#include "certificate.hpp"
#include "event_log.hpp"
#include "settings.hpp"

namespace {

namespace asio = boost::asio;
namespace sim = skua::sim;
using Json = nlohmann::ordered_json;

constexpr int kFailure = 1;
constexpr int kUsage = 2;

void serve(const sim::Settings& settings) {
  sim::EventLog log(settings.log);
  const sim::CaptureIndex capture(settings.capture);
  if (!capture.warning().empty()) log.write({{"event", "warning"}, {"message", capture.warning()}});
  std::optional<sim::Certificate> certificate;
  if (settings.tls) certificate.emplace(settings.host, settings.ca_file);

  // The state stands before the io_context: what is left in there refers to it.
  sim::RelayState state{capture, settings.behaviour, sim::FaultPlan(settings.faults), log};
  asio::io_context io(1);
  sim::CaptureRelay relay(io, state, certificate ? &certificate->context() : nullptr);
  relay.listen(settings.port);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) relay.stop();
  });

  const auto port = std::to_string(relay.port());
  const auto host = settings.tls ? "localhost:" + port : "127.0.0.1:" + port;
  const Json ready = {
      {"relay", (settings.tls ? "wss://" : "ws://") + host},
      {"health", (settings.tls ? "https://" : "http://") + host + "/xrpc/_health"},
      {"ca_file", certificate ? Json(certificate->ca_file()) : Json(nullptr)},
      {"port", relay.port()},
      {"pid", ::getpid()},
      {"frames", capture.size()},
      {"first_seq", capture.first_seq() ? Json(*capture.first_seq()) : Json(nullptr)},
      {"last_seq", capture.last_seq() ? Json(*capture.last_seq()) : Json(nullptr)}};
  std::cout << ready.dump() << std::endl;
  io.run();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A small AT network on loopback, for tests: serves a capture as a relay does.",
               "skua-sim");
  sim::Settings settings;
  sim::describe(app, settings);
  try {
    app.parse(argc, argv);
    sim::finish(settings);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  try {
    serve(settings);
  } catch (const std::exception& error) {
    std::cerr << "skua-sim: " << error.what() << '\n';
    return kFailure;
  }
  return 0;
}

#include "modes.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "network_servers.hpp"
#include "serve/capture_index.hpp"
#include "serve/certificate.hpp"
#include "serve/server.hpp"
#include "serve/stream_session.hpp"
#include "world/write_capture.hpp"

namespace skua::sim {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void simulate(const Settings& settings) {
  boost::asio::io_context io(1);
  NetworkServers servers(io, settings);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) servers.stop();
  });
  servers.start();
  std::cout << servers.ready_line().dump() << std::endl;
  io.run();
  if (!settings.dump.empty()) servers.network().dump(settings.dump);
}

void serve_capture(const Settings& settings) {
  EventLog log(settings.log);
  CaptureIndex capture(settings.capture);
  if (!capture.warning().empty()) log.write({{"event", "warning"}, {"message", capture.warning()}});
  std::optional<Certificate> certificate;
  if (settings.tls) certificate.emplace(settings.host, settings.ca_file);

  // The plan is declared before the io_context, because remaining handlers of the io_context refer
  // to it.
  FaultPlan plan(settings.faults, settings.fault_rates, settings.simulation.network.seed,
                 std::chrono::steady_clock::now());
  StreamHost stream{capture, settings.behaviour, {log, "", &plan}};
  Site site{"", log, {}, {{std::string(kStreamPath), offer_stream(stream)}}};
  site.router.get("/xrpc/_health", [](const Request&) {
    return json_response({{"version", "skua-sim"}});
  });
  boost::asio::io_context io(1);
  Server server(io, settings.port, certificate ? &certificate->context() : nullptr);
  server.start(site);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) server.stop();
  });

  const auto port = std::to_string(server.port());
  const auto address = settings.tls ? "localhost:" + port : server.address();
  const Json ready = {
      {"relay", (settings.tls ? "wss://" : "ws://") + address},
      {"health", (settings.tls ? "https://" : "http://") + address + "/xrpc/_health"},
      {"ca_file", certificate ? Json(certificate->ca_file()) : Json(nullptr)},
      {"port", server.port()},
      {"pid", ::getpid()},
      {"frames", capture.end()},
      {"first_seq", or_null(capture.first_seq())},
      {"last_seq", or_null(capture.last_seq())}};
  std::cout << ready.dump() << std::endl;
  io.run();
}

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

#include "settings.hpp"

#include <chrono>
#include <cstddef>

#include <fmt/format.h>

namespace skua::sim {
namespace {

using Kind = Fault::Kind;

constexpr const char* kExamples =
    R"(A capture is [u32 little-endian length][frame] repeated. One JSON line with the URLs goes to stdout
when the relay is ready; one JSON line an event (connect, fault, caught_up, disconnect) to the log.

Cursors: cursor=N sends what has a greater seq than N, cursor=0 everything from the oldest frame.
Without a cursor a client is live: it gets the frames from --live-from on.

Faults happen once each, when the frame is about to be sent to whichever client reaches it first.
N is the frame's number in the capture, from 1; seq:N names it by its seq.

Examples:
  skua-sim --serve day.frames
  skua-sim --serve day.frames --port 2470 --cut-at 100 --stall-at seq:31415:2.5
  skua-sim --serve day.frames --tls --ca-file ca.pem
  skua-sim --serve day.frames --rate 500 --log sim.jsonl --error-at 20:ConsumerTooSlow)";

void add_fault(CLI::App& app, Settings& settings, Kind kind, const std::string& form,
               const std::string& words) {
  const auto flag = "--" + std::string(sim::kind_name(kind)) + "-at";
  app.add_option_function<std::vector<std::string>>(
         flag,
         [&settings, kind, flag, form](const std::vector<std::string>& values) {
           for (const auto& value : values) {
             const auto fault = sim::parse_fault(kind, value);
             if (!fault) {
               throw CLI::ValidationError(
                   flag,
                   fmt::format("'{}' is not of the form {}, with N a frame's number from 1 or "
                               "seq:N",
                               value, form));
             }
             settings.faults.push_back(*fault);
           }
         },
         words)
      ->type_name(form)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void describe(CLI::App& app, Settings& settings) {
  app.footer(kExamples);
  app.add_option("--serve", settings.capture, "The capture to serve")
      ->type_name("CAPTURE")
      ->required();
  app.add_option("--port", settings.port, "Port on 127.0.0.1 and ::1; 0: a free one");
  app.add_flag("--tls", settings.tls, "Serve wss with a certificate made for this run");
  app.add_option("--host", settings.host,
                 "The only name the certificate is valid for (default: localhost, 127.0.0.1, ::1)")
      ->type_name("NAME");
  app.add_option("--ca-file", settings.ca_file,
                 "Where the certificate authority is written (default: a temporary file)")
      ->type_name("PATH");
  app.add_option("--log", settings.log, "Append the log here (default: stderr)")->type_name("FILE");
  app.add_option(
         "--live-from", settings.live_from,
         "Where a client without a cursor begins: a frame's number from 1, or end for nothing "
         "(default: 1)")
      ->type_name("N|end");
  app.add_flag("--inclusive", settings.behaviour.inclusive,
               "cursor=N sends N again, as some servers do");
  app.add_option(
         "--future-cursor", settings.future_cursor,
         "A cursor beyond the last seq: error as a PDS, silence as indigo (default: silence)")
      ->type_name("error|silence")
      ->check(CLI::IsMember({"error", "silence"}));
  app.add_flag("--close-at-end", settings.behaviour.close_at_end,
               "Close after the last frame (default: stay open)");
  app.add_option("--rate", settings.behaviour.rate,
                 "Frames a second and client (default: as fast as they are taken)")
      ->check(CLI::PositiveNumber);
  app.add_option("--ping", settings.ping_seconds, "Seconds between pings (default: 30)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  add_fault(app, settings, Kind::Cut, "N", "Drop the TCP connection before frame N");
  add_fault(app, settings, Kind::Stall, "N[:SECONDS]",
            "Send nothing more from frame N on, for so long or until the client leaves");
  add_fault(app, settings, Kind::Corrupt, "N",
            "Change the byte in the middle of frame N's blocks (of the frame, if it has none)");
  add_fault(app, settings, Kind::Slow, "N:MS",
            "From frame N on send each frame of that connection MS milliseconds late");
  add_fault(app, settings, Kind::Error, "N:NAME", "Send an error frame before frame N and close");
}

void finish(Settings& settings) {
  settings.behaviour.future_cursor_error = settings.future_cursor == "error";
  settings.behaviour.ping_interval =
      std::chrono::milliseconds(static_cast<long>(settings.ping_seconds * 1000));
  if (settings.live_from == "end") {
    settings.behaviour.live_from = static_cast<std::size_t>(-1);
  } else {
    std::size_t number = 0;
    if (!CLI::detail::lexical_cast(settings.live_from, number) || number == 0) {
      throw CLI::ValidationError(
          "--live-from", "'" + settings.live_from + "' is neither a frame's number from 1 nor end");
    }
    settings.behaviour.live_from = number - 1;
  }
  if (!settings.tls && !(settings.host.empty() && settings.ca_file.empty())) {
    throw CLI::ValidationError("--tls", "is needed for --host and --ca-file");
  }
}

}  // namespace skua::sim

#include "settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "help_text.hpp"

namespace skua::sim {

namespace {

constexpr const char* kServing = "Serving a capture";
constexpr const char* kNetwork = "The network";
constexpr const char* kRunning = "Running it";
constexpr const char* kSubscribers = "Subscribers";
constexpr const char* kTap = "Tap";
constexpr const char* kJetstream = "Jetstream";
constexpr const char* kLabeler = "Labeler";
constexpr const char* kFaults = "Faults";

/// Returns the value, or throws the usage error of a flag.
template <class T>
T accept(const std::string& flag, Parsed<T> parsed) {
  if (!parsed) throw CLI::ValidationError(flag, parsed.error());
  return *std::move(parsed);
}

void add_list(CLI::App& app, const std::string& flag, const std::string& form,
              const std::string& words, const std::function<void(const std::string&)>& take) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [take](const std::vector<std::string>& values) { std::ranges::for_each(values, take); },
         words)
      ->type_name(form)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kFaults);
}

void add_fault_at(CLI::App& app, Settings& settings, FaultKind kind, const std::string& form,
                  const std::string& words) {
  const auto flag = fmt::format("--{}-at", fault_name(kind));
  add_list(app, flag, form, words, [&settings, kind, flag](const std::string& value) {
    settings.faults.push_back(accept(flag, parse_fault_at(kind, value)));
  });
}

void describe_serving(CLI::App& app, Settings& settings) {
  app.add_option("--serve", settings.capture, "Serve this capture as a relay, and nothing else")
      ->type_name("CAPTURE")
      ->group(kServing);
  app.add_flag("--tls", settings.tls, "Serve wss with a certificate made for this run")
      ->group(kServing);
  app.add_option("--host", settings.host,
                 "The only name the certificate is valid for (default: localhost, 127.0.0.1, ::1)")
      ->type_name("NAME")
      ->group(kServing);
  app.add_option("--ca-file", settings.ca_file,
                 "Write the certificate authority to this file (default: a temporary file)")
      ->type_name("PATH")
      ->group(kServing);
  app.add_option(
         "--live-from", settings.live_from,
         "Start position of a client without a cursor: a frame's number from 1, or end for no "
         "frames (default: 1)")
      ->type_name("N|end")
      ->group(kServing);
  app.add_flag("--close-at-end", settings.behaviour.close_at_end,
               "Close after the last frame (default: stay open)")
      ->group(kServing);
}

void describe_network(CLI::App& app, Settings& settings) {
  auto& network = settings.simulation.network;
  app.add_option("--seed", network.seed, "Seed of all random choices (default: 1)")
      ->type_name("NUMBER")
      ->group(kNetwork);
  app.add_option("--accounts", network.accounts, "Accounts that act (default: 200)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->group(kNetwork);
  app.add_option("--records", network.records,
                 "Total number of records before the first message (default: 0)")
      ->type_name("NUMBER")
      ->group(kNetwork);
  app.add_option(
         "--records-spread", network.records_spread,
         "Inequality of the numbers of records: 1 like the activity, 2 like the real network, in "
         "which few accounts have most records (default: 1)")
      ->type_name("X")
      ->check(CLI::Range(0.1, 3.0))
      ->group(kNetwork);
  app.add_option("--hosts", network.hosts, "PDSes (default: 3)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100}))
      ->group(kNetwork);
  app.add_option("--outsiders", network.outsiders,
                 "Accounts that exist only in references (default: 4000)")
      ->type_name("NUMBER")
      ->group(kNetwork);
  app.add_option("--outside-share", network.outside_share,
                 "Share of references to outsiders, 0 to 1 (default: 0.3)")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1.0))
      ->group(kNetwork);
  app.add_flag(
         "--recent-posts", network.recent_posts,
         "Most posts of outsiders are recent, as the subjects of live likes: half of them are "
         "less than 9 hours old (default: all ages up to 200 days are equally frequent)")
      ->group(kNetwork);
  app.add_option("--page", settings.largest_page,
                 "Maximum entries of a page of a list of hosts or repositories (default: as many "
                 "as the client requests)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 2'000))
      ->group(kNetwork);
  app.add_option("--plc-delay", settings.plc_delay_ms,
                 "Delay of answers of the PLC directory in milliseconds (default: 0)")
      ->type_name("MS")
      ->check(CLI::Range(0, 600'000))
      ->group(kNetwork);
  app.add_option("--pds-delay", settings.pds_delay_ms,
                 "Delay of answers of a PDS in milliseconds (default: 0)")
      ->type_name("MS")
      ->check(CLI::Range(0, 600'000))
      ->group(kNetwork);
  app.add_flag("--one-op-a-path", network.one_op_a_path,
               "No commit names a path twice: for an indexer that verifies")
      ->group(kNetwork);
  app.add_flag("--even", network.even,
               "All accounts act equally often; without it, few make most of the traffic")
      ->group(kNetwork);
  app.add_option("--oddities", network.oddities,
                 "Frequency of rare events: 0 never, 1 often enough for tests (default: 1)")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber)
      ->group(kNetwork);
}

void describe_running(CLI::App& app, Settings& settings) {
  app.add_option(
         "--port", settings.port,
         "Port of the relay on 127.0.0.1 and ::1 (default: a free one, like all other servers)")
      ->type_name("PORT")
      ->group(kRunning);
  app.add_option(
         "--rate", settings.rate,
         "Events per second (default: 100); with --serve: frames per second for each client "
         "(default: no limit)")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber)
      ->group(kRunning);
  app.add_option("--events", settings.simulation.events,
                 "Stop making events after this number, and continue to serve (default: no end)")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber)
      ->group(kRunning);
  app.add_option("--first-seq", settings.simulation.first_seq,
                 "The relay's first number (default: 1)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 52))
      ->group(kRunning);
  app.add_flag("--second-relay", settings.simulation.second_relay,
               "A second relay with the same messages and other numbers (URL second_relay)")
      ->group(kRunning);
  app.add_option("--window-mb", settings.window_mb,
                 "MiB of frames that the relay keeps (default: 512)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->group(kRunning);
  app.add_option("--dump", settings.dump,
                 "Write the repositories and the states of accounts here at the end")
      ->type_name("DIR")
      ->group(kRunning);
  app.add_option("--write-capture", settings.written_capture,
                 "Serve nothing: write --events N to this new file as fast as possible")
      ->type_name("FILE")
      ->group(kRunning);
  app.add_option(
         "--did-docs", settings.did_docs,
         "With --write-capture: write the accounts' DID documents here, for skua's --did-docs")
      ->type_name("FILE")
      ->group(kRunning);
  app.add_option("--log", settings.log, "Append the log here (default: stderr)")
      ->type_name("FILE")
      ->group(kRunning);
}

void describe_subscribers(CLI::App& app, Settings& settings) {
  app.add_flag("--inclusive", settings.behaviour.inclusive,
               "cursor=N sends N again, as some servers do")
      ->group(kSubscribers);
  app.add_option(
         "--future-cursor", settings.future_cursor,
         "The answer to a cursor beyond the last seq: an error like a PDS, or silence like indigo "
         "(default: silence)")
      ->type_name("error|silence")
      ->check(CLI::IsMember({"error", "silence"}))
      ->group(kSubscribers);
}

void describe_tap(CLI::App& app, Settings& settings) {
  app.add_flag("--tap", settings.has_tap,
               "Serve a Tap (URL \"tap\"): /channel with acks, /repos, /info, /stats")
      ->group(kTap);
  app.add_option("--tap-repos", settings.tap_repos,
                 "The tracked accounts: all, or those of POST /repos/add (default: all)")
      ->type_name("all|added")
      ->check(CLI::IsMember({"all", "added"}))
      ->group(kTap);
  app.add_option("--tap-password", settings.tap.password,
                 "Require HTTP Basic admin:PASSWORD for all its routes (default: none)")
      ->type_name("PASSWORD")
      ->group(kTap);
  app.add_option("--tap-retry", settings.tap_retry_seconds,
                 "Resend an event that has been unacked for this time, or at most twice this time "
                 "(default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 86400.0))
      ->group(kTap);
}

void describe_jetstream(CLI::App& app, Settings& settings) {
  app.add_flag("--jetstream", settings.has_jetstream,
               "Serve a Jetstream (URL \"jetstream\"): /subscribe of v1, subscribeEvents of v2")
      ->group(kJetstream);
  app.add_option(
         "--zstd-dictionary", settings.jetstream_dictionary,
         "The dictionary for clients that request compression (default: compression is refused)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->group(kJetstream);
}

void describe_labeler(CLI::App& app, Settings& settings) {
  app.add_flag(
         "--labeler", settings.has_labeler,
         "Serve a labeler (URL \"labeler\"): subscribeLabels from the first label on. The first "
         "account is the labeler; labels follow a tenth of the steps")
      ->group(kLabeler);
}

void describe_fault_flags(CLI::App& app, Settings& settings) {
  add_list(app, "--fault", "KIND[:ARG]@WHEN", "A fault, once", [&settings](const auto& value) {
    settings.faults.push_back(accept("--fault", parse_planned_fault(value)));
  });
  add_list(app, "--fault-rate", "KIND[:ARG]=X",
           "A random fault, seeded: X per second, or for this share of the HTTP requests",
           [&settings](const auto& value) {
             settings.fault_rates.push_back(accept("--fault-rate", parse_fault_rate(value)));
           });
  using enum FaultKind;
  add_fault_at(app, settings, cut, "N", "Drop the TCP connection before frame N (or seq:N)");
  add_fault_at(app, settings, stall, "N[:SECONDS]",
               "Send nothing more from frame N on, for SECONDS or until the client leaves");
  add_fault_at(app, settings, corrupt, "N",
               "Change the byte in the middle of frame N's blocks (of the frame, if it has none)");
  add_fault_at(app, settings, slow, "N:MS",
               "From frame N on send each frame of that connection MS milliseconds late");
  add_fault_at(app, settings, error, "N:NAME", "Send an error frame before frame N and close");
}

/// Refuses flags that have no meaning in this mode.
void refuse(const CLI::App& app, std::initializer_list<const char*> flags, const char* why) {
  for (const auto* flag : flags) {
    if (app.count(flag) > 0) throw CLI::ValidationError(flag, why);
  }
}

void check_mode(const CLI::App& app, const Settings& settings) {
  using enum Settings::Mode;
  if (settings.mode != simulate)
    refuse(app, {"--tap", "--jetstream", "--labeler", "--second-relay"},
           "needs the simulated network");
  if (!settings.has_tap) {
    refuse(app, {"--tap-repos", "--tap-password", "--tap-retry"}, "needs --tap");
  }
  if (!settings.has_jetstream) refuse(app, {"--zstd-dictionary"}, "needs --jetstream");
  if (settings.mode != serve_capture) {
    refuse(app, {"--tls", "--host", "--ca-file", "--live-from", "--close-at-end"},
           "is for --serve only");
  } else {
    refuse(app,
           {"--write-capture", "--seed", "--accounts", "--records", "--records-spread", "--hosts",
            "--outsiders", "--outside-share", "--recent-posts", "--plc-delay", "--pds-delay",
            "--oddities", "--one-op-a-path", "--even", "--events", "--first-seq", "--window-mb",
            "--dump"},
           "has no effect with --serve");
    if (!settings.tls) refuse(app, {"--host", "--ca-file"}, "needs --tls");
  }
  if (settings.mode != write_capture) {
    refuse(app, {"--did-docs"}, "is for --write-capture only");
  } else {
    refuse(app,
           {"--port", "--log", "--first-seq", "--window-mb", "--inclusive", "--future-cursor",
            "--plc-delay", "--pds-delay", "--fault", "--fault-rate", "--cut-at", "--stall-at",
            "--slow-at", "--corrupt-at", "--error-at"},
           "has no effect with --write-capture");
    if (settings.simulation.events == 0) {
      throw CLI::ValidationError("--write-capture", "needs --events, how many");
    }
  }
}

void check_capture_faults(const Settings& settings) {
  const auto check = [](const Fault& fault) {
    if (fault_scope(fault.kind) == FaultScope::connection) return;
    throw CLI::ValidationError(
        "--fault", fmt::format("{} cannot be done to a capture: it needs the simulated network",
                               fault_name(fault.kind)));
  };
  for (const auto& planned : settings.faults) check(planned.fault);
  for (const auto& recurring : settings.fault_rates) check(recurring.fault);
}

std::uint64_t live_position(const std::string& words) {
  if (words == "end") return StreamBehaviour::kEnd;
  std::uint64_t number = 0;
  if (!CLI::detail::lexical_cast(words, number) || number == 0) {
    throw CLI::ValidationError("--live-from",
                               "'" + words + "' is neither a frame's number from 1 nor end");
  }
  return number - 1;
}

}  // namespace

void describe(CLI::App& app, Settings& settings) {
  app.footer(help_text());
  describe_network(app, settings);
  describe_running(app, settings);
  describe_subscribers(app, settings);
  describe_tap(app, settings);
  describe_jetstream(app, settings);
  describe_labeler(app, settings);
  describe_fault_flags(app, settings);
  describe_serving(app, settings);
}

// The following code derives the mode and the dependent values from the flags, and refuses flags
// that contradict the mode.

void finish(const CLI::App& app, Settings& settings) {
  if (!settings.capture.empty()) {
    settings.mode = Settings::Mode::serve_capture;
  } else if (!settings.written_capture.empty()) {
    settings.mode = Settings::Mode::write_capture;
  }
  check_mode(app, settings);

  auto& behaviour = settings.behaviour;
  behaviour.future_cursor_error = settings.future_cursor == "error";
  settings.plc_delay = std::chrono::milliseconds(settings.plc_delay_ms);
  settings.pds_delay = std::chrono::milliseconds(settings.pds_delay_ms);
  settings.tap.full_network = settings.tap_repos == "all";
  settings.tap.retry_after =
      std::chrono::milliseconds(static_cast<std::int64_t>(settings.tap_retry_seconds * 1000));
  behaviour.live_from = StreamBehaviour::kEnd;
  if (settings.mode == Settings::Mode::serve_capture) {
    check_capture_faults(settings);
    behaviour.live_from = live_position(settings.live_from);
    behaviour.rate = settings.rate;
  } else if (settings.rate > 0) {
    settings.simulation.rate = settings.rate;
  }
  settings.simulation.window_bytes = settings.window_mb * 1024 * 1024;
}

}  // namespace skua::sim

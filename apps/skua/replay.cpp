#include "app/replay.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "accounts.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "option.hpp"
#include "postgres/outage.hpp"
#include "settings.hpp"
#include "status/metrics_text.hpp"
#include "status/rate_window.hpp"
#include "stop_signal.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

void print_verification(const pipeline::Metrics& metrics) {
  if (!metrics.is_verified) {
    fmt::print("not verified: signatures and operation chains were not checked\n");
    return;
  }
  if (metrics.count("labels") > 0) {
    fmt::print("verified: {}\n", counted(metrics.count("verified"), "label"));
  } else {
    fmt::print("verified: {}, #syncs included, {} of them after a gap\n",
               counted(metrics.count("verified"), "commit"), metrics.count("broke"));
  }
  for (const auto& [reason, count] : metrics.counts_by_label("dropped")) {
    fmt::print("dropped: {} {}\n", count, reason);
  }
  if (const auto stale = metrics.count("stale_accounts")) {
    fmt::print("dropped: {} that the account's host denies\n", counted(stale, "#account event"));
  }
}

void print_handles(const pipeline::Metrics& metrics) {
  fmt::print("handles: {} confirmed, {} not confirmed, {} failed\n", metrics.count("handles_valid"),
             metrics.count("handles_invalid"), counted(metrics.count("handles_failed"), "lookup"));
}

/// Returns the DNS server for handles, but only on request, because the handles of an old capture
/// may have changed.
std::optional<documents::DnsServer> handle_checks_of_replay(const Invocation& invocation,
                                                            bool uses_network) {
  if (!invocation.has(kHandles)) return std::nullopt;
  auto checks = handle_checks(invocation);
  if (checks && uses_network) return checks;
  if (invocation.is_given(kHandles) && invocation[kHandles] == Handles::Checked) {
    throw UsageError("--handles checked: it needs --plc, and commits that are verified");
  }
  return std::nullopt;
}

int replay(const Invocation& invocation) {
  StopSignal stop_signal;
  app::ReplayOptions options;
  const std::string file = invocation[kFile];
  require_file(kFile.name, file);
  options.file = file;
  options.database_url = require_database(invocation);
  options.durability = durability(invocation);
  const auto level = invocation[kVerify];
  const OptionalText did_docs = invocation[kDidDocs];
  std::string problem_of_documents;
  const bool uses_network = level && !did_docs && invocation.has(kPlc);
  options.check_handles = handle_checks_of_replay(invocation, uses_network);
  if (level && did_docs) {
    auto documents = document_accounts(*did_docs);
    problem_of_documents = documents->problem();
    options.accounts = std::move(documents);
  } else if (uses_network) {
    auto accounts = network_accounts(invocation);
    accounts.database_url = options.database_url;
    options.ca_file = accounts.ca_file;
    options.allow_private_hosts = accounts.allow_private_hosts;
    options.accounts = std::make_unique<accounts::NetworkAccounts>(accounts, system_clock());
  }
  if (level) options.level = *level;
  options.decode_threads = decode_threads(invocation, options.accounts != nullptr);
  const std::chrono::seconds every = invocation[kStatsInterval];
  const bool checks_handles = options.check_handles.has_value();

  app::Replay replay(std::move(options), system_clock());
  status::RateWindow rates;
  rates.add(replay.metrics(), std::nullopt);
  replay.start();
  bool stopping = false;
  bool complete = false;
  auto next_line = std::chrono::steady_clock::now() + every;
  while (!complete && !stopping && !replay.reason_to_stop()) {
    complete = replay.wait_for(std::chrono::milliseconds(100));
    stopping = stop_signal.wait_for(std::chrono::milliseconds(0));
    if (std::chrono::steady_clock::now() >= next_line) {
      pipeline::Metrics now = replay.metrics();
      now.connected = true;
      print_progress(status::metrics_text(rates.add(now, std::nullopt), {now},
                                          postgres::outage_monitor().current()),
                     stderr);
      next_line += every;
    }
  }
  stop_signal.limit_the_end();
  const bool drained = replay.stop();
  const pipeline::Metrics end = replay.metrics();
  fmt::print("{}: {}, {}, {} changed, {} unchanged, {}\n", complete ? "replayed" : "not finished",
             counted(end.count("frames"), "frame"), counted(end.count("events"), "event"),
             counted(end.count("rows"), "row"), end.count("unchanged"),
             counted(end.count("dead_letters"), "dead letter"));
  print_verification(end);
  if (checks_handles) print_handles(end);
  if (const auto sent = end.count("references_sent")) {
    fmt::print("references: {} sent to other nodes\n", sent);
  }
  if (!problem_of_documents.empty()) {
    command_line::print_stderr("skua replay: {}\n", problem_of_documents);
  }
  if (const std::string problem = replay.file_problem(); !problem.empty()) {
    command_line::print_stderr("skua replay: {}\n", problem);
  }
  for (const std::string& text : replay.unsent_references()) print_error(text);
  if (const auto reason = replay.reason_to_stop()) {
    command_line::print_stderr("skua replay: {}\n", *reason);
    return kFailure;
  }
  return complete && drained && !replay.file_is_broken() ? kSuccess : kFailure;
}

}  // namespace

CommandSpecs replay_commands() {
  const OptionUse file =
      required(kFile, "A capture of `skua record`, or a file with the messages of a labeler");
  const OptionUse handles{kHandles, {.default_text = "claimed"}};
  return {{"replay",
           "Index a capture",
           {file, kDatabase, kAllowUnsafeDatabase, kDidDocs, kVerify, handles, kDns, kPlc, kCaFile,
            kAllowPrivateHosts, kDecodeThreads, kStatsInterval},
           replay}};
}

}  // namespace skua::cli

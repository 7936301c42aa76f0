#include "app/replay.hpp"

#include <chrono>

#include <fmt/format.h>

#include "commands.hpp"
#include "database_choice.hpp"
#include "input_file.hpp"
#include "stop_signal.hpp"
#include "tuning.hpp"

namespace skua::cli {
namespace {

void print_verification(const app::Figures& figures) {
  if (!figures.is_verified) {
    fmt::print("not verified: signatures and operation chains were not checked\n");
    return;
  }
  fmt::print("verified: {} commits and #syncs, {} of them after a gap\n", figures.verified,
             figures.broke);
  for (const auto& [reason, count] : figures.dropped) {
    fmt::print("dropped: {} {}\n", count, reason);
  }
  if (figures.stale_accounts > 0) {
    fmt::print("dropped: {} #account that the accounts' hosts deny\n", figures.stale_accounts);
  }
}

}  // namespace

int replay(const Settings& settings, const ReplayFlags& flags) {
  StopSignal stop_signal;
  app::ReplayOptions options;
  require_file("FILE", flags.file);
  options.file = flags.file;
  options.database_url = require_database(settings, flags.database);
  const auto level = verify_level(settings, flags.verification);
  std::string problem_of_documents;
  if (level && flags.did_docs) {
    auto documents = document_accounts(*flags.did_docs);
    problem_of_documents = documents->problem();
    options.accounts = std::move(documents);
  } else if (level && settings.find(kPlc, flags.verification.plc)) {
    auto accounts = network_accounts(settings, flags.verification);
    accounts.database_url = options.database_url;
    options.accounts = std::make_unique<app::NetworkAccounts>(accounts, system_clock());
  }
  if (level) options.level = *level;
  options.decode_threads =
      decode_threads(settings, flags.decode_threads, options.accounts != nullptr);
  const std::chrono::seconds every = figures_every(settings, flags.figures_every);

  app::Replay replay(std::move(options), system_clock());
  app::Figures before = replay.figures();
  replay.start();
  bool stopping = false;
  bool complete = false;
  auto next_line = std::chrono::steady_clock::now() + every;
  while (!complete && !stopping && !replay.defect()) {
    complete = replay.wait_for(std::chrono::milliseconds(100));
    stopping = stop_signal.wait_for(std::chrono::milliseconds(0));
    if (std::chrono::steady_clock::now() >= next_line) {
      app::Figures now = replay.figures();
      now.connected = true;
      fmt::print(stderr, "{}\n", app::figures_line(before, now, std::nullopt));
      before = now;
      next_line += every;
    }
  }
  stop_signal.limit_the_end();
  const bool drained = replay.stop();
  const app::Figures end = replay.figures();
  fmt::print("{}: {} frames, {} events, {} rows changed, {} unchanged, {} dead letters\n",
             complete ? "replayed" : "not finished", end.frames, end.events, end.rows,
             end.unchanged, end.dead_letters);
  print_verification(end);
  if (!problem_of_documents.empty()) {
    fmt::print(stderr, "skua replay: {}\n", problem_of_documents);
  }
  if (const std::string problem = replay.file_problem(); !problem.empty()) {
    fmt::print(stderr, "skua replay: {}\n", problem);
  }
  if (const auto defect = replay.defect()) {
    fmt::print(stderr, "skua replay: {}\n", *defect);
    return kFailure;
  }
  return complete && drained && !replay.file_is_broken() ? kSuccess : kFailure;
}

}  // namespace skua::cli

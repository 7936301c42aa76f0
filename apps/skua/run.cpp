#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "app/disk_size.hpp"
#include "app/indexer.hpp"
#include "commands.hpp"
#include "cursor_choice.hpp"
#include "relay_address.hpp"
#include "stop_signal.hpp"
#include "tuning.hpp"

namespace skua::cli {

int run(const Settings& settings, const RunFlags& flags) {
  StopSignal stop_signal;
  app::IndexerOptions options;
  options.relay = relay_address(settings.require(kRelay, flags.relay, "wss://HOST"));
  options.database_url = settings.require(kDatabase, flags.database, "postgresql://...").value;
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    options.cursor = cursor_choice(*cursor);
  }
  if (const auto ca_file = settings.find(kCaFile, flags.ca_file)) options.ca_file = ca_file->value;
  options.decode_threads = decode_threads(settings, flags.decode_threads);
  const std::chrono::seconds every = figures_every(settings, flags.figures_every);
  const std::string relay = options.relay.url();

  app::DiskSize disk(options.database_url);
  app::Indexer indexer(std::move(options), system_clock());
  app::Figures before = indexer.figures();
  fmt::print("indexing {} (not verified: signatures are not checked); Ctrl-C stops\n", relay);
  std::fflush(stdout);
  indexer.start();

  bool stopping = false;
  while (!stopping && !indexer.defect()) {
    // Short waits, so that a defect is noticed soon; a line only every so often.
    for (auto waited = std::chrono::milliseconds(0); waited < every && !stopping;
         waited += std::chrono::milliseconds(250)) {
      stopping = stop_signal.wait_for(std::chrono::milliseconds(250)) || indexer.defect();
    }
    const app::Figures now = indexer.figures();
    fmt::print("{}\n", app::figures_line(before, now, disk.growth()));
    std::fflush(stdout);
    before = now;
  }

  fmt::print("stopping: finishing what is in flight\n");
  std::fflush(stdout);
  stop_signal.end_at_once_after(std::chrono::seconds(28));
  const bool clean = indexer.stop();
  const app::Figures end = indexer.figures();
  fmt::print("stopped {}: {} frames, {} events, {} rows, cursor {}\n",
             clean ? "cleanly" : "with work unfinished, which the next start repeats", end.frames,
             end.events, end.rows, end.cursor ? std::to_string(*end.cursor) : "-");
  if (const auto defect = indexer.defect()) {
    fmt::print(stderr, "skua: {}\n", *defect);
    return kFailure;
  }
  return clean ? kSuccess : kFailure;
}

}  // namespace skua::cli

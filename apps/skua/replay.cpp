#include "app/replay.hpp"

#include <chrono>

#include <fmt/format.h>

#include "commands.hpp"
#include "stop_signal.hpp"
#include "tuning.hpp"

namespace skua::cli {

int replay(const Settings& settings, const ReplayFlags& flags) {
  StopSignal stop_signal;
  app::ReplayOptions options;
  options.file = flags.file;
  options.database_url = settings.require(kDatabase, flags.database, "postgresql://...").value;
  options.decode_threads = decode_threads(settings, flags.decode_threads);
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
  stop_signal.end_at_once_after(std::chrono::seconds(28));
  const bool drained = replay.stop();
  const app::Figures end = replay.figures();
  fmt::print("{}: {} frames, {} events, {} rows changed, {} unchanged, {} dead letters\n",
             complete ? "replayed" : "not finished", end.frames, end.events, end.rows,
             end.unchanged, end.dead_letters);
  fmt::print("not verified: signatures and operation chains were not checked\n");
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

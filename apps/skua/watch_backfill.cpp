#include "watch_backfill.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "command_line/finish.hpp"
#include "live_display.hpp"
#include "progress.hpp"
#include "status/backfill_text.hpp"

namespace skua::cli {
namespace {

constexpr std::chrono::milliseconds kHistoryPoll{20};
constexpr std::chrono::milliseconds kRedraw{500};
constexpr std::chrono::seconds kLook{1};

}  // namespace

std::unique_ptr<accounts::AccountSource> backfill_accounts(
    const Settings& settings, const std::optional<std::string>& did_docs,
    const VerificationFlags& verification, const std::string& database_url) {
  if (did_docs) {
    auto documents = document_accounts(*did_docs);
    if (const std::string& problem = documents->problem(); !problem.empty()) {
      command_line::print_stderr("skua: {}\n", problem);
    }
    return documents;
  }
  auto accounts = network_accounts(settings, verification);
  accounts.database_url = database_url;
  return std::make_unique<accounts::NetworkAccounts>(accounts, system_clock());
}

bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look) {
  LiveDisplay display;
  auto line_at = std::chrono::steady_clock::now();
  auto draw_at = line_at;
  auto look_at = line_at;
  bool stopping = false;
  while (!stopping && !backfill.is_idle() && !backfill.defect()) {
    stopping = stop_signal.wait_for(kHistoryPoll);
    const auto now = std::chrono::steady_clock::now();
    if (look && now - look_at >= kLook) {
      look_at = now;
      if (const std::string text = look(); !text.empty()) {
        display.clear();
        print_progress(text);
      }
    }
    if (display.is_live() && now - draw_at >= kRedraw) {
      display.draw(status::backfill_screen(backfill.moment(), display.width()));
      draw_at = now;
    } else if (!display.is_live() && now - line_at >= every) {
      print_progress(status::backfill_line(backfill.moment()));
      line_at = now;
    }
  }
  display.clear();
  return stopping;
}

}  // namespace skua::cli

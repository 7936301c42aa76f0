#include "pages/status_page.hpp"

#include <utility>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "status/status.hpp"
#include "store/database_problem.hpp"
#include "store/outage.hpp"

namespace skua::pages {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPause{60'000};
constexpr milliseconds kFresh{1'000};

http_server::Response failure(const Problem& problem, std::string_view detail) {
  return http_server::error_response(503, problem.code, detail);
}

}  // namespace

StatusPage::StatusPage(std::string database_url,
                       std::function<void(const std::string& what)> on_defect)
    : database_url_(std::move(database_url)),
      thread_({.database_url = database_url_,
               .session_name = {},
               .component = "pages",
               .failure = "the status cannot be read",
               .on_defect = std::move(on_defect)},
              [this](store::LazySession& /*session*/, const std::stop_token& /*stop*/) {
                return round();
              }) {}

void StatusPage::answer(std::shared_ptr<http_server::Exchange> exchange) {
  // The thread may wait for the server, and an answer can be given at once.
  if (const auto outage = store::outage_monitor().current()) {
    return exchange->answer(failure(store::problem_of_outage(outage->reason), outage->reason));
  }
  waiting_.with([&](Exchanges& waiting) { waiting.push_back(std::move(exchange)); });
  thread_.notify();
}

milliseconds StatusPage::round() {
  const auto waiting =
      waiting_.with([](Exchanges& all) { return std::exchange(all, Exchanges()); });
  if (waiting.empty()) return kPause;
  const http_server::Response answer = response();
  for (const auto& exchange : waiting) exchange->answer(answer);
  return kPause;
}

http_server::Response StatusPage::response() {
  const auto now = SteadyClock::now();
  if (latest_.empty() || now - read_at_ >= kFresh) {
    try {
      latest_ = status::read_status(database_url_, system_clock())
                    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n";
      read_at_ = SteadyClock::now();
    } catch (const store::SqlError& error) {
      latest_.clear();
      const Problem* const problem = store::problem_of(error);
      return problem != nullptr ? failure(*problem, error.what())
                                : http_server::error_response(503, "DatabaseError", error.what());
    }
  }
  return {.body = latest_};
}

}  // namespace skua::pages

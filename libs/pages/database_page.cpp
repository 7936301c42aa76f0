#include "pages/database_page.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/problem.hpp"
#include "store/database_problem.hpp"
#include "store/outage.hpp"
#include "store/process_name.hpp"

namespace skua::pages {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPause{60'000};
constexpr milliseconds kShortestLife{1'000};
constexpr milliseconds kLongestLife{60'000};

http_server::Response failure(const Problem& problem, std::string_view detail) {
  return http_server::error_response(503, problem.code, detail);
}

}  // namespace

milliseconds lifetime_of_answer(milliseconds duration) {
  return std::clamp(20 * duration, kShortestLife, kLongestLife);
}

DatabasePage::DatabasePage(store::Runtime& runtime, Options options)
    : options_(std::move(options)),
      thread_(runtime,
              {.session_name = store::process_name("skua page"),
               .component = "pages",
               .failure = options_.failure},
              [this](store::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

void DatabasePage::answer(std::shared_ptr<http_server::Exchange> exchange) {
  // The thread may wait for the server, and an answer can be given at once.
  if (const auto outage = store::outage_monitor().current()) {
    return exchange->answer(failure(store::problem_of_outage(outage->reason), outage->reason));
  }
  waiting_.with([&](Exchanges& waiting) { waiting.push_back(std::move(exchange)); });
  thread_.notify();
}

milliseconds DatabasePage::round(store::LazySession& session) {
  const auto waiting =
      waiting_.with([](Exchanges& all) { return std::exchange(all, Exchanges()); });
  if (waiting.empty()) return kPause;
  const http_server::Response answer = response(session);
  for (const auto& exchange : waiting) exchange->answer(answer);
  return kPause;
}

http_server::Response DatabasePage::response(store::LazySession& session) {
  if (const auto now = SteadyClock::now(); latest_.empty() || now >= valid_until_) {
    try {
      latest_ =
          options_.read(session).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
          "\n";
      read_at_ = now;
      const auto end = SteadyClock::now();
      valid_until_ = end + lifetime_of_answer(std::chrono::duration_cast<milliseconds>(end - now));
    } catch (const store::SqlError& error) {
      latest_.clear();
      session.reset();
      const Problem* const problem = store::problem_of(error);
      return problem != nullptr ? failure(*problem, error.what())
                                : http_server::error_response(503, "DatabaseError", error.what());
    }
  }
  const auto age = std::chrono::floor<std::chrono::seconds>(SteadyClock::now() - read_at_);
  return {.body = latest_, .age = age};
}

}  // namespace skua::pages

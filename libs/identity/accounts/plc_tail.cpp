#include "accounts/plc_tail.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/text.hpp"
#include "documents/errc.hpp"
#include "documents/identity_table.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/locks.hpp"
#include "tables/cursor_store.hpp"
#include "transport/errc.hpp"

namespace skua::accounts {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The time between two checks of a standby whether the lock is free.
constexpr milliseconds kStandbyInterval{5'000};
/// The log names the problem after this number of failed requests in a row, and after each
/// multiple.
constexpr std::uint64_t kLoggedFailures = 5;

transport::Endpoint export_of(const std::string& plc_url) {
  const auto endpoint = transport::parse_http_url(plc_url + "/export");
  if (!endpoint) throw std::runtime_error(plc_url + ": " + endpoint.error().message());
  return *endpoint;
}

transport::HttpClientOptions http_options(const PlcTail::Options& options) {
  transport::HttpClientOptions http;
  http.ca_file = options.ca_file;
  http.connect_timeout = options.connect_timeout;
  http.total_timeout = options.total_timeout;
  http.max_at_once = 1;
  return http;
}

/// Limits the cursor to the current time. A wrong clock may have saved a cursor in the future,
/// which would hide operations until that time.
tables::PlcCursor start_of(tables::PlcCursor cursor, Timestamp now) {
  cursor.newest = std::min(cursor.newest, now);
  return cursor;
}

ErrorCode error_of(const Result<transport::HttpAnswer>& answer) {
  if (!answer) return answer.error();
  return answer->status == 429 ? documents::errc::rate_limited : documents::errc::server_failed;
}

constexpr seconds kFirstWait{1};
constexpr seconds kLongestOwnWait{60};
/// After this number of doublings the wait has its largest value.
constexpr std::uint64_t kDoublings = 6;

}  // namespace

milliseconds pause_after_page(const transport::HttpAnswer& answer, bool is_end, Timestamp now) {
  const milliseconds usual = is_end ? kTailInterval : kTailCatchUp;
  const auto stated = transport::stated_rate_limit(answer, now);
  if (!stated || !stated->limit || stated->remaining >= *stated->limit / 2) return usual;
  const auto until_reset = std::min<seconds>(stated->until_reset, kLongestTailWait);
  return std::max<milliseconds>(usual, until_reset);
}

milliseconds pause_after_failure(std::uint64_t failures, const transport::HttpAnswer* answer,
                                 Timestamp now) {
  const auto own = std::min(kLongestOwnWait, kFirstWait * (1 << std::min(failures, kDoublings)));
  if (answer == nullptr) return own;
  const auto asked = transport::asked_wait(*answer, now).value_or(seconds(0));
  return std::max(own, std::min<seconds>(asked, kLongestTailWait));
}

PlcTail::PlcTail(postgres::Runtime& runtime, Options options, OnChange on_change)
    : options_(std::move(options)),
      on_change_(std::move(on_change)),
      clock_(runtime.clocks.server),
      export_(export_of(options_.plc_url)),
      http_(http_options(options_)),
      thread_(runtime,
              {.session_name = postgres::process_name("skua plc tail"),
               .prepare = [this](postgres::Session&) { has_lock_ = false; },
               .component = "plc",
               .failure = "the stored identities are not kept current"},
              [this](postgres::LazySession& session, const std::stop_token&) {
                return look(session.get());
              }) {}

PlcTail::~PlcTail() {
  stop();
}

void PlcTail::stop() {
  thread_.request_stop();
  http_.stop();
  thread_.stop();
}

PlcTailMetrics PlcTail::metrics() const {
  PlcTailMetrics metrics = metrics_;
  const Timestamp current_at = current_at_;
  if (current_at != Timestamp()) {
    const auto age = std::chrono::floor<seconds>(clock_.now() - current_at);
    metrics.cursor_age = static_cast<std::uint64_t>(std::max(age, seconds(0)).count());
  }
  return metrics;
}

milliseconds PlcTail::look(postgres::Session& session) {
  if (!take_lock(session)) return look_as_standby(session);
  const auto stored = tables::load_plc_cursor(session);
  const tables::PlcCursor cursor = stored ? *stored : begin(session);
  current_at_ = cursor.current_at;
  const Timestamp asked_at = clock_.now();
  transport::HttpRequest request;
  request.url = documents::export_url(export_, pages_.after(start_of(cursor, asked_at)));
  request.origin = transport::HostOrigin::configured;
  request.max_body_bytes = options_.max_page_bytes;
  const auto answer = http_.send(std::move(request));
  if (answer && answer->status == 200) return take(session, cursor, *answer, asked_at);
  const ErrorCode error = error_of(answer);
  if (error == transport::errc::http_stopped) return kTailInterval;
  return fail(error, answer ? &*answer : nullptr);
}

bool PlcTail::take_lock(postgres::Session& session) {
  if (!has_lock_) has_lock_ = postgres::try_plc_lock(session);
  return has_lock_;
}

milliseconds PlcTail::look_as_standby(postgres::Session& session) {
  const auto owner = postgres::plc_lock_owner(session).value_or(std::string());
  if (!owner.empty() && owner != other_owner_) {
    logger("plc")->info("{} follows the PLC directory; this process takes over when it ends",
                        owner);
    other_owner_ = owner;
  }
  if (const auto cursor = tables::load_plc_cursor(session)) current_at_ = cursor->current_at;
  return kStandbyInterval;
}

tables::PlcCursor PlcTail::begin(postgres::Session& session) {
  const Timestamp now = clock_.now();
  tables::begin_plc_cursor(session, {.since = now, .newest = now, .current_at = now});
  logger("plc")->info(
      "following the PLC directory from now on; `skua identity import {}` stores the identities "
      "from before",
      options_.plc_url);
  // An import may have set the cursor first.
  return tables::load_plc_cursor(session).value();
}

milliseconds PlcTail::take(postgres::Session& session, const tables::PlcCursor& cursor,
                           const transport::HttpAnswer& answer, Timestamp asked_at) {
  documents::ExportPages next = pages_;
  const documents::ExportPage page = next.read(answer.body, start_of(cursor, asked_at), asked_at);
  if (!write(session, cursor, page)) return milliseconds(0);
  pages_ = std::move(next);
  metrics_.operations += page.applied;
  for (std::size_t i = 0; i < page.dropped.size(); ++i) metrics_.dropped.at(i) += page.dropped[i];
  std::vector<std::string> dids;
  dids.reserve(page.rows.size());
  for (const documents::IdentityRow& row : page.rows) dids.push_back(row.did);
  current_at_ = page.cursor.current_at;
  if (on_change_ && !dids.empty()) on_change_(std::move(dids));
  if (page.is_stuck) return fail(documents::errc::export_unreadable, nullptr);
  failures_ = 0;
  return pause_after_page(answer, page.is_end, clock_.now());
}

bool PlcTail::write(postgres::Session& session, const tables::PlcCursor& from,
                    const documents::ExportPage& page) {
  postgres::Transaction transaction(session);
  if (!tables::advance_plc_cursor(session, from, page.cursor)) return false;
  if (!page.rows.empty()) documents::import_identities(session, page.rows);
  transaction.commit();
  return true;
}

milliseconds PlcTail::fail(const ErrorCode& error, const transport::HttpAnswer* answer) {
  metrics_.failures += 1;
  const std::uint64_t failures = ++failures_;
  failed_at_ = std::chrono::steady_clock::now();
  const auto pause = pause_after_failure(failures, answer, clock_.now());
  if (failures % kLoggedFailures == 0) {
    logger("plc")->warn(
        "{}", with_code(fmt::format("{} for the export of {} failed in a row, the last one: {}; "
                                    "retrying every {}",
                                    counted(static_cast<std::int64_t>(failures), "request"),
                                    options_.plc_url, error.message(),
                                    duration_text(std::chrono::ceil<seconds>(pause))),
                        problem("plc-down")));
  }
  return pause;
}

}  // namespace skua::accounts

#include "status/reports.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backfill/queue/job_commands.hpp"
#include "base/account_number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/display_text.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/locks.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/session.hpp"
#include "postgres/standby.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "status/consumer_status.hpp"
#include "status/database_size.hpp"
#include "status/database_size.sql.hpp"
#include "status/line_layout.hpp"
#include "status/message_status.hpp"
#include "status/reports.sql.hpp"
#include "status/standby_status.hpp"
#include "tables/account_groups.hpp"
#include "tables/cursor_store.hpp"
#include "tables/dead_letters.hpp"
#include "tables/source_table.hpp"

namespace skua::status {

namespace {

using nlohmann::json;

std::string text_or_dash(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string duration_or_dash(const json& seconds) {
  return seconds.is_null() ? "-" : lag_text(Seconds(seconds.get<double>()));
}

using postgres::Session;

/// The rows of an account in bsky.actors and in skua.repositories. Each row may be missing.
struct AccountRows {
  std::optional<AccountNumber> id;
  std::optional<std::string> handle;
  std::optional<bool> active;
  std::optional<std::string> status;
  std::optional<std::string> floor;
  // The following columns are those of skua.repositories.
  std::optional<std::string> state;
  std::optional<std::string> rev;
  std::optional<std::string> followed_from;
  std::optional<bool> is_believed;
  std::optional<std::int32_t> breaks;
  std::optional<Timestamp> broke_at;
  std::optional<Timestamp> resync_due;
  std::optional<std::int32_t> resyncs_failed;
  std::optional<std::string> resync_error;
};

struct CollectionRows {
  std::string collection;
  std::int64_t rows;
};

json account_of(const AccountRows& rows) {
  if (!rows.id) return nullptr;
  return {{"id", *rows.id},
          {"handle", or_null(rows.handle)},
          {"active", or_null(rows.active)},
          {"status", or_null(rows.status)},
          {"floor", or_null(rows.floor)}};
}

json chain_of(const AccountRows& rows) {
  if (!rows.state) return nullptr;
  return {{"state", *rows.state},
          {"rev", or_null(rows.rev)},
          {"followed_from", or_null(rows.followed_from)},
          {"is_believed", rows.is_believed.value()},
          {"breaks", rows.breaks.value()},
          {"broke_at", or_null(rows.broke_at)},
          {"resync_due", or_null(rows.resync_due)},
          {"resyncs_failed", rows.resyncs_failed.value()},
          {"resync_error", or_null(rows.resync_error)}};
}

json to_json(const backfill::JobRow& job) {
  json object = {{"state", std::string(to_string(job.state))},
                 {"host", nullptr},
                 {"lease_owner", nullptr},
                 {"rev", nullptr},
                 {"records", job.records},
                 {"attempts", job.attempts},
                 {"next_attempt", format_datetime(job.next_attempt)},
                 {"finished_at", nullptr},
                 {"error", nullptr}};
  if (job.host) object["host"] = *job.host;
  if (job.lease_owner) object["lease_owner"] = *job.lease_owner;
  if (job.rev) object["rev"] = job.rev->to_string();
  if (job.finished_at) object["finished_at"] = format_datetime(*job.finished_at);
  if (job.error) object["error"] = *job.error;
  return object;
}

/// Returns a line with a name before the value.
std::string line(const char* name, const std::string& value) {
  return fmt::format("{:<12} {}\n", name, value);
}

std::string text(const json& value, const char* otherwise) {
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::string account_text(const json& account) {
  if (account.is_null()) return "nothing was stored of it";
  std::string summary = "no word of its status";
  if (account["active"].is_boolean()) {
    summary = account["active"].get<bool>() ? "active" : "not active: what it has is hidden";
  }
  if (account["status"].is_string()) summary += " (" + account["status"].get<std::string>() + ")";
  return summary;
}

std::string state_text(const json& info) {
  const json& chain = info["chain"];
  if (chain.is_null()) {
    return "no chain: its commits were never verified, nor its history brought in";
  }
  const auto state = chain["state"].get<std::string>();
  if (state == "complete") return "complete: its history, and all since";
  if (state == "partial") return "partial: followed since it was first seen, without its history";
  return state + ": something is missing, a resync is to bring it";
}

std::string job_text(const json& job) {
  const auto state = job["state"].get<std::string>();
  std::string summary = state;
  if (state == "queued") summary += ", due " + text(job["next_attempt"], "");
  if (state == "running") summary += ", " + text(job["lease_owner"], "somebody") + " has it";
  if (state == "done") {
    summary += fmt::format(" up to {}, {}", text(job["rev"], "?"),
                           counted_with_commas(job["records"].get<std::int64_t>(), "record"));
  }
  if (job["finished_at"].is_string()) {
    summary += (state == "queued" ? ", last tried " : ", ended ") + text(job["finished_at"], "");
  }
  if (job["host"].is_string()) summary += ", at " + text(job["host"], "");
  if (job["error"].is_string()) summary += ": " + text(job["error"], "");
  return summary;
}

struct TableSize {
  std::string table;
  std::int64_t rows_estimated;
  std::int64_t bytes;
};

/// Returns the groups of accounts that the database owns; null if it owns all.
json owned_groups(Session& session) {
  const auto owned = tables::load_account_groups(session).owned;
  if (owned.has_all()) return nullptr;
  return owned.text();
}

json tables(Session& session) {
  json all = json::array();
  for (const TableSize& each : session.query<TableSize>(sql::status_tables)) {
    all.push_back(
        {{"table", each.table}, {"rows_estimated", each.rows_estimated}, {"bytes", each.bytes}});
  }
  return all;
}

/// Returns how current the stored identities are; null if no process follows the PLC directory.
json plc_cursor(Session& session) {
  const auto cursor = tables::load_plc_cursor(session);
  if (!cursor) return nullptr;
  const std::chrono::duration<double> age = postgres::server_time(session) - cursor->current_at;
  return {{"newest", format_datetime(cursor->newest)},
          {"current_at", format_datetime(cursor->current_at)},
          {"age_seconds", age.count()}};
}

json dead_letters(Session& session) {
  constexpr std::size_t kReasons = 20;
  json all = json::array();
  for (const tables::LetterReason& letters :
       tables::read_letter_reasons(session, kReasons).reasons) {
    all.push_back({{"error", letters.reason},
                   {"count", letters.count},
                   {"last_at", format_datetime(letters.last_at)}});
  }
  return all;
}

/// Returns the numbers of repositories with a verified head, by state.
json to_json(const RepositoryCounts& counts) {
  json object = {{"exact", counts.exact}, {"resyncs_failed", counts.resyncs_failed}};
  std::int64_t known = 0;
  for (const char* state : {"partial", "complete", "desynchronized"}) {
    const auto found = counts.by_state.find(state);
    object[state] = found == counts.by_state.end() ? 0 : found->second;
    known += object[state].get<std::int64_t>();
  }
  object["known"] = known;
  return object;
}

json to_json(const AccountCounts& counts) {
  return {{"exact", counts.exact},
          {"known", counts.known},
          {"with_records", counts.with_records},
          {"without_chain", counts.without_chain},
          {"hidden", counts.hidden}};
}

/// Returns what the filter dropped of a running source; empty if nothing was dropped.
std::string filtered_text(const json& metrics) {
  const auto records = metrics.value("filtered", std::uint64_t{0});
  const auto messages = metrics.value("filtered_messages", std::uint64_t{0});
  if (records == 0 && messages == 0) return {};
  return fmt::format("    left out by the filter (skua filter show): {}, {} of other accounts\n",
                     counted(records, "record"), counted(messages, "message"));
}

constexpr const char* kRelay = "relay:";
constexpr const char* kLabeler = "labeler:";

/// Returns what a running source reports of its verification.
std::string verification_text(const std::string& source, const json& metrics) {
  // The messages that a standby sent while it was read are counted with the relay that is read now.
  if (metrics.value("role", "") == "standby") return "stands by";
  if (!source.starts_with(kRelay) && !source.starts_with(kLabeler)) {
    return "unverified source: its messages contain no signatures";
  }
  if (!metrics.value("is_verified", false)) {
    return source.starts_with(kLabeler)
               ? "not verified: signatures are not checked"
               : "not verified: signatures and operation chains are not checked";
  }
  const auto verified = metrics.value("verified", std::uint64_t{0});
  std::string text = source.starts_with(kLabeler)
                         ? counted(verified, "label") + " verified"
                         : fmt::format("{} verified, {} after a gap", counted(verified, "commit"),
                                       metrics.value("broke", 0));
  const json dropped = metrics.value("dropped", json::object());
  for (const auto& [reason, count] : dropped.items()) {
    text += fmt::format(", {} {}", count.dump(), reason);
  }
  if (const int stale = metrics.value("stale_accounts", 0)) {
    text += fmt::format(", {} denied by the account's host", counted(stale, "#account event"));
  }
  if (const int invalid = metrics.value("handles_invalid", 0)) {
    text += fmt::format(", {} not confirmed", counted(invalid, "handle"));
  }
  if (const int waiting = metrics.value("accounts_waiting", 0)) {
    text += fmt::format("; {} waiting for a key", counted(waiting, "account"));
  }
  return text;
}

/// Returns the effect of the process's clock on a source; empty if the clock is right.
std::string clock_text(const json& metrics) {
  std::string text;
  const std::chrono::duration<double> ahead(metrics.value("server_clock_ahead_seconds", 0.0));
  if (const auto difference = postgres::clock_difference_text(
          std::chrono::duration_cast<std::chrono::microseconds>(ahead))) {
    text += fmt::format("    its machine's clock is {} PostgreSQL's\n", *difference);
  }
  if (const auto held = metrics.value("frames_held", std::uint64_t{0})) {
    text += fmt::format("    {} held: revisions lie ahead of its machine's clock\n",
                        counted(held, "message"));
  }
  return text;
}

/// Returns a number. An estimated number shows only its first digits.
std::string count_text(const json& count, bool exact) {
  auto number = count.get<std::int64_t>();
  if (exact || number < 100) return with_commas(number);
  std::int64_t digit = 1;
  while (number / digit >= 100) digit *= 10;
  return with_commas((number + digit / 2) / digit * digit);
}

std::string repositories_text(const json& counts) {
  const bool exact = counts["exact"].get<bool>();
  std::string text = fmt::format(
      "\nrepositories with a chain\n  {}{} partial, {} complete, {} waiting for a resync",
      exact ? "" : "about ", count_text(counts["partial"], exact),
      count_text(counts["complete"], exact),
      with_commas(counts["desynchronized"].get<std::int64_t>()));
  if (const auto failed = counts["resyncs_failed"].get<std::int64_t>(); failed > 0) {
    text += fmt::format(" ({} failed before)", with_commas(failed));
  }
  return text + "\n";
}

std::string accounts_text(const json& counts) {
  const bool exact = counts["exact"].get<bool>();
  std::string text = fmt::format(
      "\naccounts\n  {}{} seen or named, {} with records, {} of these without a chain (from a Tap, "
      "a Jetstream, or not verified)\n",
      exact ? "" : "about ", count_text(counts["known"], exact),
      count_text(counts["with_records"], exact), count_text(counts["without_chain"], exact));
  std::string hidden;
  for (const auto& [status, count] : counts["hidden"].items()) {
    hidden += fmt::format("{}{} {}", hidden.empty() ? "" : ", ", count_text(count, exact), status);
  }
  if (!hidden.empty()) {
    text += fmt::format("  {}not active: {}\n", exact ? "" : "about ", hidden);
  }
  return text;
}

}  // namespace

std::optional<Seconds> saved_lag(const tables::StoredSource& source, bool is_read) {
  if (!is_read || !source.metrics) return std::nullopt;
  if (Seconds(source.metrics_age_seconds.value_or(0)) > kOldMetrics) return std::nullopt;
  // Users may write to the table, so a value is used only if it has the expected type and range.
  const auto metrics = nlohmann::json::parse(*source.metrics, nullptr, false);
  if (!metrics.is_object()) return std::nullopt;
  const auto found = metrics.find("lag_seconds");
  if (found == metrics.end() || !found->is_number()) return std::nullopt;
  constexpr double kLongest = 1e10;
  return Seconds(std::clamp(found->get<double>(), 0.0, kLongest));
}

std::string lag_text(Seconds lag) {
  if (lag < std::chrono::minutes(2)) return fmt::format("{:.1f} s", lag.count());
  return duration_text(std::chrono::duration_cast<std::chrono::seconds>(lag));
}

json read_source_list(postgres::Session& session) {
  json all = json::array();
  // A standby does not see the locks of the processes that write to its primary.
  const bool is_standby = postgres::standby_lag(session).has_value();
  for (const tables::StoredSource& source : tables::read_sources(session)) {
    const auto holder = postgres::source_owner(session, source.name);
    const auto lag = saved_lag(source, is_standby || holder.has_value());
    json object = {{"source", source.name},
                   {"kind", source.name.substr(0, source.name.find(':'))},
                   {"cursor", or_null(source.cursor)},
                   {"saved_at", or_null(source.saved_at)},
                   {"event_time", or_null(source.event_time)},
                   {"lag_seconds", lag ? json(lag->count()) : json(nullptr)},
                   {"cursor_age_seconds", or_null(source.cursor_age_seconds)},
                   {"metrics_age_seconds", or_null(source.metrics_age_seconds)},
                   {"metrics", nullptr},
                   {"holder", or_null(holder)}};
    if (source.metrics) object["metrics"] = json::parse(*source.metrics);
    all.push_back(std::move(object));
  }
  return all;
}

std::string source_list_text(const json& sources) {
  command_line::Table table({{"source"},
                             {"cursor", true},
                             {"saved at"},
                             {"lag", true},
                             {"cursor age", true},
                             {"read by"}});
  for (const json& source : sources) {
    table.add({source["source"].get<std::string>(), text_or_dash(source["cursor"]),
               text_or_dash(source["saved_at"]), duration_or_dash(source["lag_seconds"]),
               duration_or_dash(source["cursor_age_seconds"]), text_or_dash(source["holder"])});
  }
  return table.text();
}

json read_repository_info(Session& session, const std::string& did) {
  const auto rows = session.query_one<AccountRows>(sql::repository_info_account, did);
  const std::array<std::string, 1> one{did};
  const auto jobs = backfill::read_jobs(session, one);
  if (!rows.id && !rows.state && jobs.empty()) return nullptr;
  json info = {
      {"did", did}, {"account", account_of(rows)},  {"chain", chain_of(rows)}, {"job", nullptr},
      {"rows", 0},  {"collections", json::object()}};
  if (!jobs.empty()) info["job"] = to_json(jobs.front());
  std::int64_t all = 0;
  for (const CollectionRows& stored :
       session.query<CollectionRows>(sql::repository_info_rows, did)) {
    info["collections"][stored.collection] = stored.rows;
    all += stored.rows;
  }
  info["rows"] = all;
  return info;
}

std::string repository_info_text(const json& info) {
  const json& account = info["account"];
  std::string lines = line("did", info["did"].get<std::string>());
  if (!account.is_null()) lines += line("handle", text(account["handle"], "none"));
  lines += line("account", account_text(account));
  lines += line("state", state_text(info));
  if (const json& chain = info["chain"]; !chain.is_null()) {
    lines += line("head", text(chain["rev"], "none yet"));
    if (chain["followed_from"].is_string()) {
      lines +=
          line("since", text(chain["followed_from"], "") + ": from there on nothing was missed");
    }
    if (chain["breaks"].get<int>() > 0) {
      lines += line("gaps", fmt::format("{}, the last seen {}", chain["breaks"].dump(),
                                        text(chain["broke_at"], "?")));
    }
    if (chain["resync_due"].is_string()) {
      lines += line("resync", "due " + text(chain["resync_due"], ""));
    }
    if (chain["resync_error"].is_string()) {
      lines +=
          line("failed", fmt::format("{}: {}", counted(chain["resyncs_failed"].get<int>(), "time"),
                                     text(chain["resync_error"], "")));
    }
    if (!chain["is_believed"].get<bool>()) {
      lines += line("commits", "do not count: taken down or suspended");
    }
  }
  lines += line("history", info["job"].is_null() ? "never asked for" : job_text(info["job"]));
  lines += line("rows", with_commas(info["rows"].get<std::int64_t>()));
  for (const auto& [collection, count] : info["collections"].items()) {
    lines += fmt::format("  {:>12}  {}\n", with_commas(count.get<std::int64_t>()), collection);
  }
  return lines;
}

json read_status(const std::string& database_url, const Clock& clock) {
  Session session(database_url, postgres::process_name("skua status"));
  return {{"at", format_datetime(clock.now())},
          {"database_bytes", session.query_one<std::int64_t>(sql::database_size)},
          {"standby", read_standby_status(session)},
          {"groups", owned_groups(session)},
          {"sources", read_source_list(session)},
          {"plc_cursor", plc_cursor(session)},
          {"tables", tables(session)},
          {"repositories", to_json(repository_counts(session))},
          {"accounts", to_json(account_counts(session))},
          {"consumers", read_consumer_list(session)},
          {"change_log", read_change_log_status(session)},
          {"messages", read_message_status(session)},
          {"dead_letters", dead_letters(session)},
          {"backfill", read_backfill_status(session)}};
}

std::string status_text(const json& status) {
  std::string text =
      fmt::format("database {}\n", size_text(status["database_bytes"].get<double>()));
  text += standby_status_text(status["standby"]);
  if (const json& groups = status["groups"]; !groups.is_null()) {
    text += fmt::format("groups of accounts {}; other accounts are left out\n",
                        groups.get<std::string>());
  }
  text += "\nsources\n";
  if (status["sources"].empty()) text += "  none yet: start `skua run`\n";
  for (const json& source : status["sources"]) {
    text += fmt::format("  {}  cursor {}", source["source"].get<std::string>(),
                        source["cursor"].is_null() ? "-" : source["cursor"].dump());
    if (!source["lag_seconds"].is_null()) {
      text += "  lag " + lag_text(Seconds(source["lag_seconds"].get<double>()));
    }
    if (!source["holder"].is_null()) {
      text += "  read by " + source["holder"].get<std::string>();
    } else {
      text += status["standby"].is_null() ? "  no process reads it"
                                          : "  read by the primary's processes";
      if (!source["cursor_age_seconds"].is_null()) {
        text += "; the cursor is " + lag_text(Seconds(source["cursor_age_seconds"].get<double>())) +
                " old";
      }
    }
    text += "\n";
    if (!source["metrics"].is_null()) {
      const bool is_active = source["metrics"].value("role", "") == "active";
      text += std::string("    ") + (is_active ? "active: " : "") +
              verification_text(source["source"].get<std::string>(), source["metrics"]) + "\n";
      text += filtered_text(source["metrics"]);
      text += clock_text(source["metrics"]);
    }
  }
  if (const json& cursor = status["plc_cursor"]; !cursor.is_null()) {
    text += fmt::format("\nidentities of the PLC directory\n  current up to {}, {} ago\n",
                        cursor["current_at"].get<std::string>(),
                        duration_text(std::chrono::seconds(
                            std::max(std::int64_t{0}, cursor["age_seconds"].get<std::int64_t>()))));
  }
  text += repositories_text(status["repositories"]) + accounts_text(status["accounts"]);
  if (const std::string backfill = backfill_status_text(status["backfill"]); !backfill.empty()) {
    text += "\nbackfill (`skua backfill status` prints more)\n" + backfill;
  }
  if (const std::string consumers = consumer_list_text(status["consumers"], 2);
      !consumers.empty()) {
    text += "\nconsumers\n" + consumers;
  }
  text += message_status_text(status["messages"]);
  command_line::Table tables({{"table"}, {"rows (estimated)", true}, {"size", true}});
  for (const json& table : status["tables"]) {
    tables.add({table["table"].get<std::string>(),
                with_commas(table["rows_estimated"].get<std::int64_t>()),
                size_text(table["bytes"].get<double>())});
  }
  text += "\ntables\n" + tables.text(2);
  command_line::Table letters({{{}, true}, {}});
  for (const json& letter : status["dead_letters"]) {
    letters.add({letter["count"].dump(), letter["error"].get<std::string>()});
  }
  return text + "\ndead letters\n" + (letters.is_empty() ? "  none\n" : letters.text(2));
}

}  // namespace skua::status

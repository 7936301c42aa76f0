#include "status/status.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/number_text.hpp"
#include "base/size_text.hpp"
#include "command_line/table.hpp"
#include "status/account_counts.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "status/change_log_status.hpp"
#include "status/consumer_list.hpp"
#include "status/database_size.sql.hpp"
#include "status/lag.hpp"
#include "status/source_list.hpp"
#include "status/status.sql.hpp"
#include "store/clock_watch.hpp"
#include "store/letter_reasons.hpp"
#include "store/plc_cursor.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"

namespace skua::status {
namespace {

using nlohmann::json;
using store::Session;

struct TableSize {
  std::string table;
  std::int64_t rows_estimated;
  std::int64_t bytes;
};

json tables(Session& session) {
  json all = json::array();
  for (const TableSize& each : session.query<TableSize>(sql::status_tables)) {
    all.push_back(
        {{"table", each.table}, {"rows_estimated", each.rows_estimated}, {"bytes", each.bytes}});
  }
  return all;
}

/// How current the stored identities are; null: nothing follows the PLC directory.
json plc_cursor(Session& session) {
  const auto cursor = store::load_plc_cursor(session);
  if (!cursor) return nullptr;
  const std::chrono::duration<double> age = store::server_time(session) - cursor->current_at;
  return {{"newest", format_datetime(cursor->newest)},
          {"current_at", format_datetime(cursor->current_at)},
          {"age_seconds", age.count()}};
}

json dead_letters(Session& session) {
  constexpr std::size_t kReasons = 20;
  json all = json::array();
  for (const store::LetterReason& letters : store::read_letter_reasons(session, kReasons).reasons) {
    all.push_back({{"error", letters.reason},
                   {"count", letters.count},
                   {"last_at", format_datetime(letters.last_at)}});
  }
  return all;
}

/// Repositories with a chain, by state.
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

/// What the filter left out of a running source; empty: nothing.
std::string filtered_text(const json& metrics) {
  const auto records = metrics.value("filtered", std::uint64_t{0});
  const auto messages = metrics.value("filtered_messages", std::uint64_t{0});
  if (records == 0 && messages == 0) return {};
  return fmt::format("    left out by the filter (skua filter show): {}, {} of other accounts\n",
                     counted(records, "record"), counted(messages, "message"));
}

constexpr const char* kLabeler = "labeler:";

/// What a running source says of its verification.
std::string verification_text(const std::string& source, const json& metrics) {
  // What it sent while it was read is counted with the relay that is read now.
  if (metrics.value("role", "") == "standby") return "stands by";
  if (source.starts_with("tap:") || source.starts_with("jetstream:")) {
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

/// What the clock of the process that reads a source does to it; empty while all is well.
std::string clock_text(const json& metrics) {
  std::string text;
  const std::chrono::duration<double> ahead(metrics.value("server_clock_ahead_seconds", 0.0));
  if (const auto difference = store::clock_difference_text(
          std::chrono::duration_cast<std::chrono::microseconds>(ahead))) {
    text += fmt::format("    its machine's clock is {} PostgreSQL's\n", *difference);
  }
  if (const auto held = metrics.value("frames_held", std::uint64_t{0})) {
    text += fmt::format("    {} held: revisions lie ahead of its machine's clock\n",
                        counted(held, "message"));
  }
  return text;
}

/// A number of which only the first digits are known, unless it was counted.
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

json read_status(const std::string& database_url, const Clock& clock) {
  Session session(database_url, store::process_name("skua status"));
  return {{"at", format_datetime(clock.now())},
          {"database_bytes", session.query_one<std::int64_t>(sql::database_size)},
          {"sources", read_source_list(session)},
          {"plc_cursor", plc_cursor(session)},
          {"tables", tables(session)},
          {"repositories", to_json(repository_counts(session))},
          {"accounts", to_json(account_counts(session))},
          {"consumers", read_consumer_list(session)},
          {"change_log", read_change_log_status(session)},
          {"dead_letters", dead_letters(session)},
          {"backfill", read_backfill_status(session)}};
}

std::string status_text(const json& status) {
  std::string text =
      fmt::format("database {}\n", size_text(status["database_bytes"].get<double>()));
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
      text += "  no process reads it";
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

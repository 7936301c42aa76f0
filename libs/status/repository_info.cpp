#include "status/repository_info.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "backfill/queue/job_commands.hpp"
#include "base/account_number.hpp"
#include "base/count_text.hpp"
#include "base/number_text.hpp"
#include "status/backfill_text.hpp"
#include "status/json_columns.hpp"
#include "status/repository_info.sql.hpp"

namespace skua::status {
namespace {

using nlohmann::json;
using store::Session;

/// The rows of an account in bsky.actors and in skua.repositories. Each of them may be missing.
struct AccountRows {
  std::optional<AccountNumber> id;
  std::optional<std::string> handle;
  std::optional<bool> active;
  std::optional<std::string> status;
  std::optional<std::string> floor;
  // The columns of skua.repositories.
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

/// A line with a name before it.
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

}  // namespace

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

}  // namespace skua::status

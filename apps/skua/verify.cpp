#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "backfill/queue/job_table.hpp"
#include "backfill/repository/resync_rows.hpp"
#include "base/account_number.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/session.hpp"
#include "recheck/row_check.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "tables/account_groups.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

const Option<std::optional<std::size_t>> kSample(
    {.name = "--sample",
     .type = "NUMBER",
     .meaning = "Check this number of records, which are chosen at random",
     .default_text = "all records"},
    number_in(1, 1'000'000'000));
const Option<OptionalText> kCheckedCollection({.name = "--collection",
                                               .type = "NSID",
                                               .meaning = "Check the records of this collection"});
const Option<OptionalText> kCheckedAccount(
    {.name = "--account",
     .type = "WHO",
     .meaning = "Check the records of this account: a DID, a handle or a bsky.app URL"});
const Option<bool> kResyncFlag(
    {.name = "--resync",
     .meaning = "Download the repositories of the accounts with records that differ"});

template <class Number>
Number known_number(postgres::Session& session, const std::string& statement,
                    const std::string& name, std::string_view what) {
  const auto rows =
      session.execute({"verify_" + std::string(what.substr(what.find(' ') + 1)), statement}, name);
  if (rows.empty() || rows.is_null(0, 0)) {
    throw UsageError(fmt::format("skua verify: {} {} is not in the database", what, name));
  }
  return static_cast<Number>(rows.int8(0, 0));
}

recheck::RowScope scope_of(const Invocation& invocation, postgres::Session& session) {
  recheck::RowScope scope;
  scope.sample = invocation[kSample];
  if (const auto account = invocation[kCheckedAccount]) {
    scope.actor_id = known_number<AccountNumber>(session, "SELECT bsky.actor_id($1::text)",
                                                 *account, "the account");
    const auto did = session.execute({"verify_did", "SELECT did FROM bsky.actors WHERE id = $1"},
                                     *scope.actor_id);
    if (!tables::load_account_groups(session).owned.has_account(did.text(0, 0))) {
      throw UsageError(fmt::format("skua verify: the account {}: {}", *account,
                                   tables::foreign_text(did.text(0, 0))));
    }
  }
  if (const auto collection = invocation[kCheckedCollection]) {
    scope.collection_id = known_number<std::int32_t>(
        session, "SELECT c.id::int8 FROM bsky.collections AS c WHERE c.nsid = $1::text",
        *collection, "the collection");
  }
  return scope;
}

void request_resync(postgres::Session& session, const std::vector<recheck::FaultyRow>& faulty) {
  recheck::clear_cids(session, faulty);
  std::set<std::string> accounts;
  for (const recheck::FaultyRow& row : faulty) accounts.insert(row.row.did);
  std::vector<backfill::NewJob> jobs;
  jobs.reserve(accounts.size());
  for (const std::string& did : accounts) jobs.push_back({.did = did});
  backfill::request_resync(session, jobs);
  print_progress(fmt::format("{} will be downloaded again by `skua run` or `skua backfill`",
                             counted(jobs.size(), "repository")),
                 stderr);
}

int verify(const Invocation& invocation) {
  StopSignal stop_signal;
  const bool resyncs = invocation[kResyncFlag];
  postgres::Session session = resyncs ? open_database(invocation, "skua verify")
                                      : open_database_to_read(invocation, "skua verify");
  app::require_plain_tables(session);
  const recheck::RowScope scope = scope_of(invocation, session);
  std::vector<recheck::FaultyRow> faulty;
  std::size_t differing = 0;
  bool is_stopped = false;
  constexpr std::size_t kUriCharacters = 4'000;
  constexpr std::chrono::seconds kInterval{5};
  auto next_line = std::chrono::steady_clock::now() + kInterval;
  const auto found = [&](recheck::FaultyRow row) {
    ++differing;
    fmt::print("{}: {}\n", printable(row.uri(), kUriCharacters), row.reason);
    if (!resyncs) return;
    row.row.json.clear();
    row.row.block.reset();
    faulty.push_back(std::move(row));
  };
  const auto progress = [&](const recheck::RowProgress& state) {
    if (std::chrono::steady_clock::now() >= next_line) {
      next_line += kInterval;
      std::fflush(stdout);
      print_progress(fmt::format("{:.1f}% of the rows are read: {}, {} differ", 100 * state.part,
                                 counted(state.rows, "record"), with_commas(differing)),
                     stderr);
    }
    is_stopped = stop_signal.wait_for(std::chrono::milliseconds(0));
    return !is_stopped;
  };
  const std::size_t rows = recheck::check_rows(session, scope, found, progress);
  std::fflush(stdout);
  if (!faulty.empty()) request_resync(session, faulty);
  print_last_line(fmt::format("{}{} checked, {} not encode to {}", is_stopped ? "stopped: " : "",
                              counted(rows, "record"),
                              differing == 1 ? "1 does" : with_commas(differing) + " do",
                              differing == 1 ? "its CID" : "their CIDs"));
  return differing == 0 && !is_stopped ? kSuccess : kFailure;
}

}  // namespace

CommandSpecs verify_commands() {
  return {{"verify",
           "Check that the stored records encode to their CIDs",
           {kDatabase, kSample, kCheckedCollection, kCheckedAccount, kResyncFlag},
           verify}};
}

}  // namespace skua::cli

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "backfill_request.hpp"
#include "commands.hpp"
#include "consumers/consumer_table.hpp"
#include "init_plan.hpp"
#include "invocation.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

/// The command connects to this database to create another one, because every server has it.
constexpr const char* kMaintenance = "postgres";

std::string identifier(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

/// Returns the commands of docs/install.md that create the missing parts. `role_exists` says
/// whether the role of the URL could connect to the server.
std::string superuser_commands(const postgres::ConnectionNames& names, bool role_exists) {
  const std::string prefix = "\n  runuser -u postgres -- ";
  std::string text;
  for (const char* role : {"skua_reader", "skua_writer", "skua_producer"}) {
    text += prefix + "createuser --no-login " + role;
  }
  if (!role_exists) {
    text += fmt::format("{}createuser {}{}", prefix, names.has_password ? "--pwprompt " : "",
                        names.user);
  }
  return text + fmt::format("{}createdb --owner={} --encoding=UTF8 --template=template0 {}", prefix,
                            names.user, names.database);
}

bool has_database(postgres::Session& session, const std::string& name) {
  postgres::Params params;
  params.text(name);
  return session
      .execute({"init_database", "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"},
               params)
      .boolean(0, 0);
}

bool may_create(postgres::Session& session) {
  return session.run("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
      .boolean(0, 0);
}

/// Returns a session with the maintenance database. Null if the server cannot be reached, or
/// refuses the role there; `reason` then says why.
std::unique_ptr<postgres::Session> maintenance_session(const std::string& url,
                                                       std::string& reason) {
  try {
    return std::make_unique<postgres::Session>(postgres::with_database(url, kMaintenance),
                                               postgres::process_name("skua init"));
  } catch (const postgres::SqlError& error) {
    reason = error.what();
    return nullptr;
  }
}

/// Creates the database of a URL if it is missing, and prints that it was created. If the role of
/// the URL may not create it, throws std::runtime_error with the reason and the commands for a
/// superuser.
void create_missing_database(const std::string& url) {
  const postgres::ConnectionNames names = postgres::connection_names(url);
  std::string reason;
  const auto server = maintenance_session(url, reason);
  if (server && !has_database(*server, names.database)) {
    if (!may_create(*server)) {
      throw std::runtime_error(
          fmt::format("there is no database {}, and the role {} may not create it. A superuser of "
                      "PostgreSQL can, with these commands, which report what exists already:{}",
                      names.database, names.user, superuser_commands(names, true)));
    }
    server->run(fmt::format("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0",
                            identifier(names.database)));
    fmt::print("created the database {}\n", names.database);
  }
  try {
    const postgres::Session session(url, postgres::process_name("skua init"));
  } catch (const postgres::SqlError& error) {
    throw std::runtime_error(
        fmt::format("the database cannot be used: {}\nIf the server runs and the role or the "
                    "database is missing, a superuser of PostgreSQL creates them, with these "
                    "commands, which report what exists already:{}",
                    error.what(), superuser_commands(names, server != nullptr)));
  }
}

constexpr const char* kDefaultFile = "skua.toml";
/// The settings file of the services of the Debian package.
constexpr const char* kServiceFile = "/etc/skua/skua.toml";

const Option<bool> kYes({.name = "--yes", .meaning = "Ask no questions, also on a terminal"});
const Option<bool> kForceInit({.name = "--force",
                               .meaning = "Replace the file if it exists, and keep a copy"});

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// Returns the planned steps, which are printed before the last question.
std::string plan_text(const InitPlan& plan, const std::filesystem::path& file) {
  std::string text = fmt::format("\nfile         {}\ndatabase     {}\n", file.string(),
                                 postgres::without_password(plan.database));
  if (!plan.accounts.empty()) text += fmt::format("accounts     {}\n", list_text(plan.accounts));
  text += fmt::format("collections  {}\n",
                      plan.collections.empty() ? "all" : list_text(plan.collections));
  text += fmt::format("projections  {}\n", list_text(plan.projections));
  for (const auto& [collection, keep] : plan.retention) {
    text += fmt::format("retention    {} for {}\n", collection, keep);
  }
  return text;
}

/// The steps in the database. Each step runs a command and can be repeated.
class DatabaseSteps {
 public:
  /// `written` is the written file of settings.
  DatabaseSteps(const InitPlan& plan, const SettingsFile& written, Texts dids)
      : plan_(plan), written_(written), dids_(std::move(dids)) {}

  /// Runs the steps. Returns the exit code of the first step that fails, or 0.
  int run() {
    if (const int code = run_command("migrate", {}); code != 0) return code;
    if (const int code = store_filter(); code != 0) return code;
    if (const int code = add_projections(); code != 0) return code;
    for (const auto& [collection, keep] : plan_.retention) {
      const int code =
          run_command("retention set", {{"COLLECTION", {collection}}, {"DURATION", {keep}}});
      if (code != 0) return code;
    }
    queue_backfill();
    return kSuccess;
  }

  /// Runs a command with the written file of settings.
  int run_command(const char* command, Invocation::Given given) const {
    given[kDatabase.name] = {plan_.database};
    return find_command(command).run(Invocation(std::move(given), written_));
  }

 private:
  int store_filter() const {
    if (plan_.use == InitUse::Network) return run_command("filter clear", {});
    Invocation::Given names;
    if (!plan_.collections.empty()) names[kCollections.name] = plan_.collections;
    if (!dids_.empty()) names[kDids.name] = dids_;
    return run_command("filter set", std::move(names));
  }

  int add_projections() const {
    std::vector<std::string> existing;
    {
      postgres::Session session(plan_.database, postgres::process_name("skua init"));
      for (const consumers::Consumer& consumer : consumers::read_consumers(session)) {
        existing.push_back(consumer.name);
      }
    }
    for (const std::string& name : plan_.projections) {
      if (std::find(existing.begin(), existing.end(), name) != existing.end()) continue;
      existing.push_back(name);
      const int code = run_command("consumers add", {{"NAME", {name}}});
      if (code != 0) return code;
    }
    return kSuccess;
  }

  /// Queues the backfill. Repositories that were downloaded before are not queued again.
  void queue_backfill() const {
    BackfillRequest request;
    for (const std::string& did : dids_) request.jobs.emplace_back().did = did;
    postgres::Session session(plan_.database, postgres::process_name("skua init"));
    queue_request(session, request, backfill::Again::No);
  }

  const InitPlan& plan_;
  const SettingsFile& written_;
  const Texts dids_;
};

std::string next_commands(const InitPlan& plan, const std::filesystem::path& file) {
  const std::string config = " --config " + shell_word(file.string());
  const bool is_service = file == kServiceFile;
  // Root is usually no role of PostgreSQL, so the command runs as the user of the service.
  const std::string program = is_service ? "  runuser -u skua -- skua" : "  skua";
  std::string text = "\nNext:\n";
  text +=
      is_service ? "  systemctl enable --now skua skua-serve\n" : program + " run" + config + "\n";
  if (plan.use == InitUse::Collections) {
    text += "For older records of these collections, beside it:\n" + program + " backfill";
    for (const std::string& name : plan.collections) {
      text += name.ends_with('*') ? "" : " --collection " + name;
    }
    text += config + "\n";
  } else if (plan.use == InitUse::Network) {
    text += "For the history of all accounts, before it (this takes days):\n" + program +
            " backfill --network --bootstrap" + config + "\n";
  }
  return text;
}

/// Asks questions on a terminal, writes the file of settings, and prepares the database. Returns
/// the exit code of the final `skua doctor`. If a step fails, the results of the earlier steps
/// stay.
int init(const Invocation& given) {
  Invocation invocation = given;
  const std::filesystem::path file = invocation[kConfig].value_or(kDefaultFile);
  if (std::filesystem::exists(file) && !invocation[kForceInit]) {
    throw UsageError(fmt::format(
        "{}: the file exists; --force replaces it and keeps a copy, or name another with --config",
        file.string()));
  }
  const bool asks =
      !invocation[kYes] && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  Questions questions(std::cin, std::cout);
  if (asks) complete_by_questions(questions, invocation);
  const InitPlan plan = init_plan(invocation);
  std::size_t problems = 0;
  const Texts dids = look_up(account_choice(invocation, plan.accounts), problems);
  if (problems > 0) throw std::runtime_error("nothing was changed: an account is missing");
  if (asks) {
    questions.print(plan_text(plan, file));
    if (!questions.confirm("Write the file and prepare the database?")) {
      throw std::runtime_error("nothing was changed");
    }
  }

  create_missing_database(plan.database);
  const auto copy = write_init_file(file, init_file_text(plan),
                                    postgres::connection_names(plan.database).has_password);
  fmt::print("wrote {}{}\n", file.string(), copy ? "; the former file is " + copy->string() : "");
  std::fflush(stdout);
  const SettingsFile written(file.string());
  DatabaseSteps steps(plan, written, dids);
  if (const int code = steps.run(); code != 0) return code;
  fmt::print("\n");
  std::fflush(stdout);
  const int code = steps.run_command("doctor", {});
  fmt::print("{}", next_commands(plan, file));
  return code;
}

}  // namespace

CommandSpecs init_commands() {
  const OptionUse config{kConfig, {.meaning = "The file to write", .default_text = kDefaultFile}};
  const OptionUse relay{kRelay, {.default_text = kDefaultRelay}};
  return {{"init",
           "Write a file of settings and prepare the database for a first `skua run`",
           {config, kUse, kInitAccounts, kInitCollections, kDatabase, relay, kProjections,
            kRetention, kPlc, kCaFile, kAllowPrivateHosts, kDns, kYes, kForceInit},
           init}};
}

}  // namespace skua::cli

#include "init.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "account_choice.hpp"
#include "backfill_request.hpp"
#include "commands.hpp"
#include "consumers.hpp"
#include "doctor.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "filter.hpp"
#include "init_database.hpp"
#include "init_file.hpp"
#include "init_questions.hpp"
#include "invocation.hpp"
#include "retention.hpp"
#include "store/connection_string.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

constexpr const char* kDefaultFile = "skua.toml";
/// The file of the services of the Debian package.
constexpr const char* kServiceFile = "/etc/skua/skua.toml";

std::filesystem::path file_of(const Settings& settings, const InitFlags& flags) {
  if (flags.config) return *flags.config;
  return settings.file().empty() ? kDefaultFile : settings.file();
}

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// What will be done, before the last question.
std::string plan_text(const InitPlan& plan, const std::filesystem::path& file) {
  std::string text = fmt::format("\nfile         {}\ndatabase     {}\n", file.string(),
                                 store::without_password(plan.database));
  if (!plan.accounts.empty()) text += fmt::format("accounts     {}\n", list_text(plan.accounts));
  text += fmt::format("collections  {}\n",
                      plan.collections.empty() ? "all" : list_text(plan.collections));
  text += fmt::format("projections  {}\n", list_text(plan.projections));
  for (const auto& [collection, keep] : plan.retention) {
    text += fmt::format("retention    {} for {}\n", collection, keep);
  }
  return text;
}

/// The steps in the database, each by the functions of its command. Each may be repeated.
class DatabaseSteps {
 public:
  DatabaseSteps(const Settings& settings, const InitPlan& plan, const InitFlags& flags,
                std::vector<std::string> dids)
      : settings_(settings), plan_(plan), flags_(flags), dids_(std::move(dids)) {}

  /// The exit code of the first step that fails.
  int run() {
    if (const int code = migrate(settings_, {.database = plan_.database}); code != 0) return code;
    if (const int code = store_filter(); code != 0) return code;
    if (const int code = add_projections(); code != 0) return code;
    for (const auto& [collection, keep] : plan_.retention) {
      const int code = retention_set(
          settings_, {.collection = collection, .keep = keep, .database = plan_.database});
      if (code != 0) return code;
    }
    queue_backfill();
    return kSuccess;
  }

 private:
  int store_filter() {
    FilterCommandFlags filter;
    filter.database = plan_.database;
    filter.verification = flags_.verification;
    filter.names.collections = plan_.collections;
    filter.names.dids = dids_;
    return filter_change(settings_, filter,
                         plan_.use == InitUse::Network ? FilterAction::Clear : FilterAction::Set);
  }

  int add_projections() {
    std::vector<std::string> existing;
    {
      store::Session session(plan_.database, store::process_name("skua init"));
      for (const feed::Consumer& consumer : feed::read_consumers(session)) {
        existing.push_back(consumer.name);
      }
    }
    for (const std::string& name : plan_.projections) {
      if (std::find(existing.begin(), existing.end(), name) != existing.end()) continue;
      existing.push_back(name);
      ConsumersFlags consumer;
      consumer.name = name;
      consumer.database = plan_.database;
      if (const int code = consumers_add(settings_, consumer); code != 0) return code;
    }
    return kSuccess;
  }

  /// Repositories that were downloaded before are not queued again.
  void queue_backfill() {
    BackfillRequest request;
    for (const std::string& did : dids_) request.jobs.emplace_back().did = did;
    store::Session session(plan_.database, store::process_name("skua init"));
    queue_request(session, request, backfill::Again::No);
  }

  const Settings& settings_;
  const InitPlan& plan_;
  const InitFlags& flags_;
  const std::vector<std::string> dids_;
};

std::vector<std::string> dids_of(const Settings& settings, const InitPlan& plan,
                                 const InitFlags& flags) {
  std::size_t problems = 0;
  auto dids = look_up(account_choice(settings, flags.verification, plan.accounts, {}), problems);
  if (problems > 0) throw std::runtime_error("nothing was changed: an account is missing");
  return dids;
}

std::string next_commands(const InitPlan& plan, const std::filesystem::path& file) {
  const std::string config = " --config " + shell_word(file.string());
  const bool is_service = file == kServiceFile;
  // Root is no role of PostgreSQL.
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

}  // namespace

int init(const Settings& settings, const InitFlags& given) {
  InitFlags flags = given;
  const std::filesystem::path file = file_of(settings, flags);
  if (std::filesystem::exists(file) && !flags.force) {
    throw UsageError(fmt::format(
        "{}: the file exists; --force replaces it and keeps a copy, or name another with --config",
        file.string()));
  }
  const bool asks = !flags.yes && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  Questions questions(std::cin, std::cout);
  if (asks) complete_by_questions(questions, settings, flags);
  const InitPlan plan = init_plan(settings, flags);
  const std::vector<std::string> dids = dids_of(settings, plan, flags);
  if (asks) {
    questions.print(plan_text(plan, file));
    if (!questions.confirm("Write the file and prepare the database?")) {
      throw std::runtime_error("nothing was changed");
    }
  }

  create_missing_database(plan.database);
  const auto copy = write_init_file(file, init_file_text(plan),
                                    store::connection_names(plan.database).has_password);
  fmt::print("wrote {}{}\n", file.string(), copy ? "; the former file is " + copy->string() : "");
  std::fflush(stdout);
  const Settings written(file.string());
  if (const int code = DatabaseSteps(written, plan, flags, dids).run(); code != 0) return code;
  fmt::print("\n");
  std::fflush(stdout);
  DoctorFlags examination;
  examination.database = plan.database;
  examination.verification = flags.verification;
  const int code = doctor(written, examination);
  fmt::print("{}", next_commands(plan, file));
  return code;
}

}  // namespace skua::cli

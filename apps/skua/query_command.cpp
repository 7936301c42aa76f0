#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "query.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua query`.
class QueryCommand final : public Command {
 public:
  explicit QueryCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* query_;
  QueryFlags flags_;
};

QueryCommand::QueryCommand(CLI::App& app)
    : query_(
          app.add_subcommand("query", "Answer a question about accounts, posts or the network")) {
  query_->add_option("NAME", flags_.name, "The query; without it, the command lists the queries");
  query_->add_option("ARGUMENT", flags_.arguments,
                     "Its arguments: a DID, handle or bsky.app URL of an account; an AT-URI or "
                     "bsky.app URL of a post; a text");
  add_database_option(query_, flags_.database);
  add_setting(query_, kQueryTimeout, flags_.timeout);
  auto* csv = query_->add_flag("--csv", flags_.csv, "Print CSV with a header");
  add_json_flag(query_, flags_.json);
  csv->excludes("--json");
  query_->footer(
      "docs/queries.md contains the queries as SQL. The role skua_reader may run this command. "
      "Tables cut long values; --csv and --json do not.\n\n"
      "Examples:\n  skua query\n"
      "  skua query timeline bsky.app --database postgresql://localhost/skua\n"
      "  skua query likes https://bsky.app/profile/bsky.app/post/3l6oveex3ii2l --json");
}

std::optional<int> QueryCommand::run(const Settings& settings) const {
  if (!*query_) return std::nullopt;
  return query(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_query_command(CLI::App& app) {
  return std::make_unique<QueryCommand>(app);
}

}  // namespace skua::cli

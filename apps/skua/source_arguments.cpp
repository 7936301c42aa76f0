#include "source_arguments.hpp"

#include "shared_arguments.hpp"

namespace skua::cli {

SourceArguments::SourceArguments(CLI::App& app)
    : source_(app.add_subcommand("source", "The sources that a database was filled from")),
      list_(add("list", "List sources: name, cursor, when it was saved, lag")),
      forget_(add("forget", "Remove a source's saved cursor, metrics and tombstones")) {
  source_->require_subcommand(1);
  source_->footer(
      "Examples:\n  skua source list\n  skua source forget relay:relay1.us-east.bsky.network");
  add_json_flag(list_, flags_.json);
  list_->footer("Example:\n  skua source list --database postgresql://localhost/skua");
  forget_->add_option("NAME", flags_.name, "A source, as `skua source list` names it")->required();
  forget_->footer(
      "Rows that the source brought stay. The next `skua run` reads the source from --cursor, else "
      "live. A source\nthat `skua run` reads at this moment is refused.\n\n"
      "Example:\n  skua source forget relay:relay1.us-east.bsky.network");
}

CLI::App* SourceArguments::add(const char* name, const char* what) {
  CLI::App* command = source_->add_subcommand(name, what);
  add_database_option(command, flags_.database);
  return command;
}

std::optional<int> SourceArguments::run(const Settings& settings) const {
  if (*list_) return source_list(settings, flags_);
  if (*forget_) return source_forget(settings, flags_);
  return std::nullopt;
}

}  // namespace skua::cli

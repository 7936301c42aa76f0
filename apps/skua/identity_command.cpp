#include <optional>

#include <CLI/CLI.hpp>

#include "command_list.hpp"
#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua identity` and its subcommand.
class IdentityCommand final : public Command {
 public:
  explicit IdentityCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* identity_;
  IdentityFlags flags_;
  CLI::App* import_;
  IdentityImportFlags import_flags_;
};

IdentityCommand::IdentityCommand(CLI::App& app)
    : identity_(app.add_subcommand("identity", "Print signing key, host and handle of an account")),
      import_(identity_->add_subcommand("import", "Import an export of the PLC directory")) {
  identity_->add_option("WHO", flags_.who, kAccountForms);
  add_plc_option(identity_, flags_.plc);
  add_database_option(identity_, flags_.database);
  add_ca_file_option(identity_, flags_.ca_file);
  add_dns_option(identity_, flags_.dns);
  add_private_hosts_flag(identity_, flags_.allow_private_hosts);
  identity_->add_flag("--refresh", flags_.refresh,
                      "Ask the directory even if the database has a recent answer");
  add_json_flag(identity_, flags_.json);
  identity_->footer(
      "With a database, the command uses answers that are less than a day old, and stores new "
      "ones.\n\nExamples:\n  skua identity bsky.app\n  skua identity "
      "did:plc:z72i7hdynmk6r22z27h6tvur --json");

  import_
      ->add_option("SOURCE", import_flags_.source,
                   "A file of JSON lines, - for standard input, or a directory's URL")
      ->required();
  add_database_option(import_, import_flags_.database);
  add_ca_file_option(import_, import_flags_.ca_file);
  import_
      ->add_option("--after", import_flags_.after,
                   "For a URL: only operations after this time, such as 2026-07-04T00:00:00Z")
      ->type_name("TIME");
  import_->footer(
      "Newer operations replace older ones in any order. You can repeat the import. A file must be "
      "a whole export. Afterwards\n`skua run --plc-tail` continues behind the newest "
      "operation.\n\nExamples:\n  zstdcat plc-export.jsonl.zst | skua identity import - --database "
      "postgresql://localhost/skua\n  skua identity import https://plc.directory --after "
      "2026-07-04T00:00:00Z");
}

std::optional<int> IdentityCommand::run(const Settings& settings) const {
  if (*import_) return identity_import(settings, import_flags_);
  if (*identity_) return identity(settings, flags_);
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Command> make_identity_command(CLI::App& app) {
  return std::make_unique<IdentityCommand>(app);
}

}  // namespace skua::cli

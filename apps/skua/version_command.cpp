#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command_list.hpp"
#include "version.hpp"

namespace skua::cli {
namespace {

/// `skua version`.
class VersionCommand final : public Command {
 public:
  explicit VersionCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* version_;
};

VersionCommand::VersionCommand(CLI::App& app)
    : version_(app.add_subcommand("version", "Print the version")) {
  version_->footer("Example:\n  skua version");
}

std::optional<int> VersionCommand::run(const Settings& /*settings*/) const {
  if (!*version_) return std::nullopt;
  fmt::print("{}\n", kVersion);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_version_command(CLI::App& app) {
  return std::make_unique<VersionCommand>(app);
}

}  // namespace skua::cli

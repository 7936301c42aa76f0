#include "version_arguments.hpp"

#include <fmt/format.h>

#include "version.hpp"

namespace skua::cli {

VersionArguments::VersionArguments(CLI::App& app)
    : version_(app.add_subcommand("version", "Print the version")) {
  version_->footer("Example:\n  skua version");
}

std::optional<int> VersionArguments::run(const Settings& /*settings*/) const {
  if (!*version_) return std::nullopt;
  fmt::print("{}\n", kVersion);
  return 0;
}

}  // namespace skua::cli

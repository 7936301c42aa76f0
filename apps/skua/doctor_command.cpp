#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "doctor.hpp"
#include "pages_origin.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua doctor`.
class DoctorCommand final : public Command {
 public:
  explicit DoctorCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* doctor_;
  DoctorFlags flags_;
};

DoctorCommand::DoctorCommand(CLI::App& app)
    : doctor_(app.add_subcommand(
          "doctor", "Check the database, the network and the clocks, and print what to do")) {
  add_database_option(doctor_, flags_.database);
  add_unsafe_database_flag(doctor_, flags_.allow_unsafe_database);
  add_setting(doctor_, kRelay, flags_.source.relays);
  add_tap_options(doctor_, flags_.source.tap, flags_.source.tap_password_file);
  add_setting(doctor_, kJetstream, flags_.source.jetstream);
  add_setting(doctor_, kLabeler, flags_.source.labelers);
  add_verify_option(doctor_, flags_.verification);
  add_plc_option(doctor_, flags_.verification.plc);
  add_ca_file_option(doctor_, flags_.verification.ca_file);
  add_setting(doctor_, kHttp, flags_.http,
              {.type = "ADDRESS|URL|off",
               .meaning = "Pages of the running skua run whose settings count; off: do not ask it",
               .otherwise = kDefaultPages});
  doctor_->add_flag("--strict", flags_.strict, "Exit with 1 also if there is a warning");
  add_json_flag(doctor_, flags_.json);
  doctor_->footer(
      "The command only reads, and ends within 45 seconds. It examines the sources and the PLC "
      "directory of the running `skua run`, which it asks at --http; otherwise those of its own "
      "flags and settings. Flags of this command come first. `skua help CODE` explains the code of "
      "a problem.\n\n"
      "Examples:\n  skua doctor --database postgresql://localhost/skua --relay "
      "wss://relay1.us-east.bsky.network\n"
      "  skua doctor --json | jq '.findings[] | select(.level != \"ok\")'");
  command_line::explain_exit_codes(*doctor_, "there is no error",
                                   "there is an error, or with --strict a warning");
}

std::optional<int> DoctorCommand::run(const Settings& settings) const {
  if (!*doctor_) return std::nullopt;
  return doctor(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_doctor_command(CLI::App& app) {
  return std::make_unique<DoctorCommand>(app);
}

}  // namespace skua::cli

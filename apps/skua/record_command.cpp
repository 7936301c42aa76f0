#include <optional>

#include <CLI/CLI.hpp>

#include "command_line/help_text.hpp"
#include "command_list.hpp"
#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

/// `skua record`.
class RecordCommand final : public Command {
 public:
  explicit RecordCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* record_;
  RecordFlags flags_;
};

RecordCommand::RecordCommand(CLI::App& app)
    : record_(
          app.add_subcommand("record", "Write the frames of a relay to a capture until stopped")) {
  record_->add_option("URL", flags_.url, "Relay or PDS, wss://host")->required();
  record_->add_option("FILE", flags_.file, "The capture, a new file")->required();
  record_->add_flag("--append", flags_.append, "Add to the capture if the file exists");
  record_
      ->add_option("--cursor", flags_.cursor,
                   "Start position: live, oldest, or a sequence number (default live)")
      ->type_name("live|oldest|NUMBER");
  add_ca_file_option(record_, flags_.ca_file);
  record_->add_option("--frames", flags_.frames, "Stop after this number of frames")
      ->type_name("NUMBER");
  record_->footer(
      "Examples:\n  skua record wss://relay1.us-east.bsky.network monday.frames --frames 10000\n"
      "  skua record wss://relay1.us-east.bsky.network monday.frames --append");
  command_line::explain_exit_codes(*record_, "the capture has the frames that arrived",
                                   "no frame arrived, or the capture cannot be written");
}

std::optional<int> RecordCommand::run(const Settings& settings) const {
  if (!*record_) return std::nullopt;
  return record(settings, flags_);
}

}  // namespace

std::unique_ptr<Command> make_record_command(CLI::App& app) {
  return std::make_unique<RecordCommand>(app);
}

}  // namespace skua::cli

#include <string>
#include <vector>

#include <fmt/format.h>

#include "account_choice.hpp"
#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "command_line/table.hpp"
#include "commands.hpp"
#include "tap_admin.hpp"

namespace skua::cli {
namespace {

TapAdmin admin_of(const Settings& settings, const TapFlags& flags) {
  const TapAddress tap = tap_address(settings, flags.tap, flags.tap_password_file);
  return {tap.endpoint, tap.password, ca_file(settings, flags.verification.ca_file)};
}

/// Adds numbers with their names, one per line.
void add_lines(const nlohmann::ordered_json& object, command_line::Table& table) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      add_lines(value, table);
    } else {
      table.add({name, value.is_string() ? value.get<std::string>() : value.dump()});
    }
  }
}

void print_lines(const nlohmann::ordered_json& object) {
  command_line::Table table({{}, {}});
  add_lines(object, table);
  fmt::print("{}", table.text());
}

void print(const nlohmann::ordered_json& object, bool json) {
  if (json) {
    fmt::print("{}\n", object.dump(2));
  } else {
    print_lines(object);
  }
}

}  // namespace

int tap_change(const Settings& settings, const TapFlags& flags, TapChange change) {
  TapAdmin admin = admin_of(settings, flags);
  const AccountChoice accounts =
      account_choice(settings, flags.verification, flags.who, flags.files);
  if (accounts.names.empty()) throw UsageError("name accounts, or files of them with --file");
  std::size_t problems = 0;
  const std::vector<std::string> dids = look_up(accounts, problems);
  const bool is_add = change == TapChange::Add;
  const std::size_t told = is_add ? admin.add(dids) : admin.remove(dids);
  fmt::print("{} {}\n", counted(told, "account"), is_add ? "added" : "removed");
  return problems == 0 ? kSuccess : kFailure;
}

int tap_info(const Settings& settings, const TapFlags& flags) {
  TapAdmin admin = admin_of(settings, flags);
  const AccountChoice accounts =
      account_choice(settings, flags.verification, flags.who, flags.files);
  std::size_t problems = 0;
  for (const std::string& did : look_up(accounts, problems)) {
    if (const auto info = admin.info(did)) {
      print(*info, flags.json);
    } else {
      command_line::print_stderr("skua: {}: Tap does not follow this account\n", did);
      ++problems;
    }
  }
  return problems == 0 ? kSuccess : kFailure;
}

int tap_stats(const Settings& settings, const TapFlags& flags) {
  print(admin_of(settings, flags).stats(), flags.json);
  return kSuccess;
}

}  // namespace skua::cli

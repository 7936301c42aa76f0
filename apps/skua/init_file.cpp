#include "init_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "settings_text.hpp"

namespace skua::cli {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw std::runtime_error(fmt::format("{} cannot be written: {}", file.string(),
                                       std::generic_category().message(error)));
}

/// What the database stores, in words.
std::string use_text(const InitPlan& plan) {
  switch (plan.use) {
    case InitUse::Accounts:
      return plan.collections.empty() ? "some accounts with their history"
                                      : "some collections of some accounts, with their history";
    case InitUse::Collections:
      return "some collections of all accounts";
    case InitUse::Network:
      break;
  }
  return "the whole network";
}

std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The first free name beside the file.
std::filesystem::path copy_name(const std::filesystem::path& file) {
  for (int number = 1;; ++number) {
    std::filesystem::path copy = file;
    copy += fmt::format(".{}", number);
    if (!std::filesystem::exists(copy)) return copy;
  }
}

/// A new file beside `file`, which replaces it or is removed.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& file)
      : file_(file), name_(file.string() + ".XXXXXX"), descriptor_(::mkstemp(name_.data())) {
    if (descriptor_ < 0) fail(file_, errno);
  }
  ~NewFile() {
    ::close(descriptor_);
    if (!is_done_) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& name() const { return name_; }

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(file_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail(file_, errno);
  }

  void set_mode(mode_t mode) {
    if (::fchmod(descriptor_, mode) != 0) fail(file_, errno);
  }

  /// Only root can give a file to another owner; an own one has the right owner already.
  void set_owner(uid_t user, gid_t group) {
    if (::fchown(descriptor_, user, group) != 0 && errno != EPERM) fail(file_, errno);
  }

  void replace() {
    if (::rename(name_.c_str(), file_.c_str()) != 0) fail(file_, errno);
    is_done_ = true;
  }

 private:
  const std::filesystem::path file_;
  std::string name_;
  int descriptor_;
  bool is_done_ = false;
};

}  // namespace

std::string init_file_text(const InitPlan& plan) {
  std::string text = fmt::format(
      "# Settings of Skua for {}, written by `skua init`.\n# A setting is looked for in this "
      "order: flag, environment variable, this file, default.\n# The database has the filter, the "
      "projections and the retention: see `skua filter show`,\n# `skua consumers list` and `skua "
      "retention list`.\n",
      use_text(plan));
  for (const auto& [setting, value] : plan.settings) text += "\n" + setting_toml(*setting, value);
  text += "\n# Other settings. To set one, remove the # before its key and change the value.\n";
  for (const OptionText* setting : all_settings()) {
    const bool is_set = std::any_of(plan.settings.begin(), plan.settings.end(),
                                    [&](const auto& each) { return each.first == setting; });
    if (!is_set) text += "\n" + setting_toml(*setting, std::nullopt);
  }
  return text;
}

std::optional<std::filesystem::path> write_init_file(const std::filesystem::path& file,
                                                     const std::string& text, bool has_password) {
  NewFile made(file);
  made.write(text);
  const SettingsFile readable(made.name());
  struct stat former {};
  const bool is_there = ::stat(file.c_str(), &former) == 0;
  mode_t mode = has_password ? 0600 : 0644;
  if (is_there) mode = former.st_mode & (has_password ? 0640U : 0777U);
  made.set_mode(mode);
  std::optional<std::filesystem::path> copy;
  if (is_there) {
    made.set_owner(former.st_uid, former.st_gid);
    if (read_whole(file) == text && (former.st_mode & 0777U) == mode) return std::nullopt;
    copy = copy_name(file);
    std::error_code error;
    std::filesystem::create_hard_link(file, *copy, error);
    if (error) fail(*copy, error.value());
  }
  made.replace();
  return copy;
}

}  // namespace skua::cli

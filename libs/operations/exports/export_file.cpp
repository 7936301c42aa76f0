#include "exports/export_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skua::exports {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
/// The form of the file of the checkpoint. A checkpoint of another version is refused.
constexpr int kCheckpointVersion = 1;

std::filesystem::path with_suffix(std::filesystem::path file, const char* suffix) {
  file += suffix;
  return file;
}

[[noreturn]] void fail_on(const std::filesystem::path& file, int error) {
  throw FileError(
      fmt::format("cannot write {}: {}", file.string(), std::generic_category().message(error)));
}

void write_all(int descriptor, std::string_view text, const std::filesystem::path& file) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on(file, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Makes the names in the folder of a file durable.
void sync_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_on(folder, errno);
  const bool is_done = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  if (!is_done) fail_on(folder, error);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_on(to, errno);
  sync_folder(to);
}

void replace_durably(const std::filesystem::path& file, std::string_view text) {
  const auto made = with_suffix(file, ".new");
  const int descriptor = ::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_on(made, errno);
  try {
    write_all(descriptor, text, made);
    if (::fsync(descriptor) != 0) fail_on(made, errno);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  rename_durably(made, file);
}

std::string text_of(const Checkpoint& checkpoint) {
  nlohmann::ordered_json json{{"version", kCheckpointVersion},
                              {"request", checkpoint.request},
                              {"since", nullptr},
                              {"first_key", checkpoint.first_key},
                              {"last_key", checkpoint.last_key},
                              {"next_key", checkpoint.next_key},
                              {"rows", checkpoint.rows},
                              {"bytes", checkpoint.bytes}};
  if (checkpoint.since) json["since"] = *checkpoint.since;
  return json.dump(2) + "\n";
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return std::nullopt;
  std::ifstream stream(file);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("version") != kCheckpointVersion) throw FileError("its version is not known");
    Checkpoint checkpoint{.request = json.at("request"),
                          .first_key = json.at("first_key"),
                          .last_key = json.at("last_key"),
                          .next_key = json.at("next_key"),
                          .rows = json.at("rows"),
                          .bytes = json.at("bytes")};
    if (json.at("since").is_string()) checkpoint.since = json.at("since");
    return checkpoint;
  } catch (const std::exception& error) {
    throw FileError(fmt::format("cannot continue from {}: {}; --replace begins again",
                                file.string(), error.what()));
  }
}

int open_locked(const std::filesystem::path& part) {
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_on(part, errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  if (error != EWOULDBLOCK) fail_on(part, error);
  throw FileError(fmt::format("another process writes {}: wait for it, or choose another --output",
                              part.string()));
}

}  // namespace

ExportFile::ExportFile(std::filesystem::path file, Start start)
    : file_(std::move(file)),
      part_(with_suffix(file_, ".part")),
      checkpoint_(with_suffix(file_, ".checkpoint")) {
  std::error_code none;
  const bool is_unfinished = std::filesystem::exists(checkpoint_, none);
  if (start == Start::New && is_unfinished) {
    throw FileError(fmt::format(
        "{} is the rest of an unfinished export: --resume continues it, --replace begins again",
        part_.string()));
  }
  if (start != Start::Replace && !is_unfinished && std::filesystem::exists(file_, none)) {
    throw FileError(fmt::format("{} exists: --replace replaces it", file_.string()));
  }
  if (start == Start::Resume && is_unfinished && !std::filesystem::exists(part_, none) &&
      std::filesystem::exists(file_, none)) {
    std::filesystem::remove(checkpoint_);
    return;
  }
  if (start == Start::Resume) continued_ = read_checkpoint(checkpoint_);
  descriptor_ = open_locked(part_);
  try {
    size_ = continued_ ? continued_->bytes : 0;
    const std::uintmax_t found = std::filesystem::file_size(part_);
    if (found < size_) {
      throw FileError(fmt::format("{} has {} bytes, and {} says {}: --replace begins again",
                                  part_.string(), found, checkpoint_.string(), size_));
    }
    // A former checkpoint must not describe the new file.
    if (!continued_ && is_unfinished) std::filesystem::remove(checkpoint_);
    if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) fail_on(part_, errno);
    if (::lseek(descriptor_, 0, SEEK_END) < 0) fail_on(part_, errno);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ExportFile::~ExportFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ExportFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void ExportFile::flush() {
  write_all(descriptor_, buffer_, part_);
  size_ += buffer_.size();
  buffer_.clear();
}

void ExportFile::save(Checkpoint checkpoint) {
  flush();
  if (::fsync(descriptor_) != 0) fail_on(part_, errno);
  checkpoint.bytes = size_;
  replace_durably(checkpoint_, text_of(checkpoint));
}

void ExportFile::finish() {
  flush();
  if (::fsync(descriptor_) != 0) fail_on(part_, errno);
  // A process that ends between the two steps leaves a whole file and a checkpoint.
  rename_durably(part_, file_);
  std::error_code none;
  std::filesystem::remove(checkpoint_, none);
}

}  // namespace skua::exports

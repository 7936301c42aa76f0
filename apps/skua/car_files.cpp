#include "car_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "repo/car_reader.hpp"
#include "repo/commit.hpp"
#include "settings.hpp"
#include "transport/spooled_body.hpp"

namespace skua::cli {
namespace {

Result<std::shared_ptr<const transport::SpooledBody>> map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return ErrorCode(errno, boost::system::generic_category());
  struct stat status {};
  auto mapped = [&]() -> Result<std::shared_ptr<const transport::SpooledBody>> {
    if (::fstat(file, &status) != 0) return ErrorCode(errno, boost::system::generic_category());
    if (status.st_size == 0) return ErrorCode(ENODATA, boost::system::generic_category());
    return transport::SpooledBody::map(file, static_cast<std::size_t>(status.st_size));
  }();
  ::close(file);
  return mapped;
}

/// The unverified statements of a CAR.
struct Head {
  std::string did;
  std::uint64_t rev = 0;  // 0: absent
};

/// The head of a repository's CAR; otherwise the reason in `problem`.
std::optional<Head> head_of(ByteView car, std::string& problem) {
  auto reader = repo::CarReader::open(car);
  if (!reader) {
    problem = reader.error().message();
    return std::nullopt;
  }
  if (reader->roots().empty()) {
    problem = "it has no root: it is not a repository";
    return std::nullopt;
  }
  const atproto::Cid root = reader->roots().front();
  for (;;) {
    const auto block = reader->next();
    if (!block) {
      problem = block.error().message();
      return std::nullopt;
    }
    if (!*block) {
      problem = "its first root is not in it";
      return std::nullopt;
    }
    if ((*block)->cid != root) continue;
    const auto commit = repo::decode_commit((*block)->data);
    if (!commit || !atproto::is_did(commit->did)) {
      problem = "its first root is not a commit: it is not a repository";
      return std::nullopt;
    }
    return Head{std::string(commit->did), commit->rev ? commit->rev->value : 0};
  }
}

}  // namespace

CarJobs jobs_of_cars(const std::vector<std::filesystem::path>& files) {
  CarJobs found;
  struct Place {
    std::size_t job = 0;
    std::uint64_t rev = 0;
  };
  std::unordered_map<std::string, Place> places;
  for (const std::filesystem::path& file : files) {
    const auto mapped = map_file(file);
    std::string problem;
    std::optional<Head> head;
    if (!mapped) {
      problem = mapped.error().message();
    } else {
      head = head_of((*mapped)->view(), problem);
    }
    if (!head) {
      found.problems.push_back(fmt::format("{}: {}", file.string(), problem));
      continue;
    }
    std::string path = std::filesystem::absolute(file).lexically_normal().string();
    const auto [place, is_first] =
        places.try_emplace(head->did, Place{found.jobs.size(), head->rev});
    if (is_first) {
      backfill::NewJob& job = found.jobs.emplace_back();
      job.did = std::move(head->did);
      job.file = std::move(path);
      continue;
    }
    std::string& kept = *found.jobs[place->second.job].file;
    if (path == kept) continue;
    if (head->rev > place->second.rev) {
      place->second.rev = head->rev;
      std::swap(kept, path);
    }
    found.superseded.push_back(
        fmt::format("{}: left out, {} is the same repository and no older", path, kept));
  }
  return found;
}

std::vector<std::filesystem::path> cars_below(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  try {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file() && entry.path().extension() == ".car") {
        files.push_back(entry.path());
      }
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError(fmt::format("--car-dir: {}: {}", directory.string(), error.code().message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace skua::cli

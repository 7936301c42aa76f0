#include "car_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

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

/// The account of a repository's CAR; else why it has none, as `problem`.
std::string did_of(ByteView car, std::string& problem) {
  auto reader = repo::CarReader::open(car);
  if (!reader) {
    problem = reader.error().message();
    return {};
  }
  if (reader->roots().size() != 1) {
    problem = "it has not one root: it is no repository";
    return {};
  }
  const atproto::Cid root = reader->roots().front();
  for (;;) {
    const auto block = reader->next();
    if (!block) {
      problem = block.error().message();
      return {};
    }
    if (!*block) {
      problem = "its root is not in it";
      return {};
    }
    if ((*block)->cid != root) continue;
    const auto commit = repo::decode_commit((*block)->data);
    if (!commit || !atproto::is_did(commit->did)) {
      problem = "its root is no commit: it is no repository";
      return {};
    }
    return std::string(commit->did);
  }
}

}  // namespace

CarJobs jobs_of_cars(const std::vector<std::filesystem::path>& files) {
  CarJobs found;
  for (const std::filesystem::path& file : files) {
    const auto mapped = map_file(file);
    std::string problem;
    std::string did;
    if (!mapped) {
      problem = mapped.error().message();
    } else {
      did = did_of((*mapped)->view(), problem);
    }
    if (did.empty()) {
      found.problems.push_back(fmt::format("{}: {}", file.string(), problem));
      continue;
    }
    backfill::NewJob& job = found.jobs.emplace_back();
    job.did = std::move(did);
    job.file = std::filesystem::absolute(file).lexically_normal().string();
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

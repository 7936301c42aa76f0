#include "backfill/repository/repository_reader.hpp"

#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "event/repository_chunks.hpp"
#include "repo/repository_listing.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::backfill {
namespace {

using Extent = repo::RepositoryListing::Extent;

/// What the filter leaves of a repository. A path that names no collection is for the dead letters.
event::ChunkOptions chunk_options(const std::shared_ptr<const store::Filter>& filter,
                                  std::uint32_t origin) {
  event::ChunkOptions options;
  options.origin = origin;
  if (filter && !filter->passes_all_collections()) {
    options.leave_out = [filter](const repo::ListedRecord& record) {
      const auto slash = record.path.find('/');
      return slash != record.path.npos && !filter->passes_collection(record.path.substr(0, slash));
    };
  }
  return options;
}

/// After so many bytes of records a mapped CAR lets its memory go.
constexpr std::size_t kMappedBytes = std::size_t{32} << 20;

}  // namespace

RepositoryReader::RepositoryReader(Options options, UnfinishedRepositories& unfinished,
                                   const Clock& clock)
    : options_(std::move(options)),
      unfinished_(unfinished),
      clock_(clock),
      queue_(std::numeric_limits<std::size_t>::max()) {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

RepositoryReader::~RepositoryReader() {
  stop();
}

void RepositoryReader::stop() {
  queue_.close();
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void RepositoryReader::push(FetchedRepository fetched) {
  queue_.push(std::move(fetched));
}

void RepositoryReader::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      auto fetched = queue_.pop();
      if (!fetched) return;
      read(*std::move(fetched), stop);
    }
  } catch (const std::exception& error) {
    options_.on_defect(std::string("reading repositories: ") + error.what());
  }
}

void RepositoryReader::read(FetchedRepository fetched, const std::stop_token& stop) {
  auto listing = repo::RepositoryListing::open(fetched.car,
                                               fetched.is_partial ? Extent::Since : Extent::Whole);
  if (!listing) {
    return options_.on_failed(fetched.job, "the CAR cannot be used: " + listing.error().message());
  }
  const repo::Commit commit = listing->commit();
  if (const std::string wrong = check(fetched, commit); !wrong.empty()) {
    return options_.on_failed(fetched.job, wrong);
  }
  if (fetched.document) {
    const auto verified =
        fetched.document->key.verify(repo::unsigned_commit_bytes(commit), commit.signature);
    if (!verified && !fetched.document_is_fresh) {
      return options_.on_other_key(std::move(fetched));
    }
    if (!verified) {
      return options_.on_failed(fetched.job, "the repository is not signed by its account's key: " +
                                                 verified.error().message());
    }
  }
  send(std::make_unique<UnfinishedRepository>(
           UnfinishedRepository{std::move(fetched), *std::move(listing)}),
       stop);
}

std::string RepositoryReader::check(const FetchedRepository& fetched,
                                    const repo::Commit& commit) const {
  if (commit.did != fetched.job.did) {
    return fmt::format("the CAR is the repository of another account, {}", commit.did);
  }
  if (!commit.rev) {
    return "the repository is of version 2 of the format, which has no revisions: its host must "
           "bring it up to date";
  }
  if (commit.rev->time() > clock_.now() + verify::kFuture) {
    return fmt::format("the repository's revision, {}, is from the future",
                       commit.rev->to_string());
  }
  if (fetched.known && *commit.rev < *fetched.known) {
    return fmt::format(
        "stale: the CAR is of revision {}, and the account is known at {} already; records that "
        "were deleted in between would come back",
        commit.rev->to_string(), fetched.known->to_string());
  }
  return {};
}

void RepositoryReader::send(std::unique_ptr<UnfinishedRepository> repository,
                            const std::stop_token& stop) {
  const UnfinishedRepository& kept = *repository;
  const auto id = unfinished_.begin(std::move(repository));
  event::RepositoryChunks chunks(kept.listing, kept.fetched.job.did, *kept.listing.commit().rev, id,
                                 chunk_options(kept.fetched.filter, options_.origin));
  std::size_t mapped = kept.fetched.car.size();
  while (auto chunk = chunks.next()) {
    chunk->claim = kept.fetched.job.claim;
    mapped += chunk->bytes;
    if (kept.fetched.mapped != nullptr && mapped > kMappedBytes) {
      kept.fetched.mapped->let_go();
      mapped = 0;
    }
    if (!unfinished_.add_chunk(id, chunk->bytes, stop)) return;
    options_.sink(*std::move(chunk));
  }
  unfinished_.complete(id);
}

}  // namespace skua::backfill

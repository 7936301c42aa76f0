#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "atproto/tid.hpp"
#include "event/chunk.hpp"
#include "event/repository_decoder.hpp"
#include "repo/repository_listing.hpp"

namespace skua::event {

/// How a repository is cut into chunks.
struct ChunkOptions {
  std::size_t max_records = 5'000;
  /// Of the records' blocks in one chunk. A record that is larger is a chunk of its own.
  std::size_t max_bytes = 4'000'000;
  /// Records that are left out, such as those that are stored already; they are not decoded. None
  /// when it is empty.
  std::function<bool(const repo::ListedRecord&)> leave_out;
  /// Of the events (UnresolvedEvent::origin).
  std::uint32_t origin = 0;
};

/// Cuts a repository into chunks, in one pass in key order. Records that cannot be used stand among
/// the others as Rejections. At most one chunk of each type is held; a repository without records
/// has none.
///
/// The listing must outlive it, not the chunks. One thread.
class RepositoryChunks {
 public:
  /// `repository` goes into each chunk.
  RepositoryChunks(const repo::RepositoryListing& listing, std::string did, atproto::Tid rev,
                   std::uint64_t repository, ChunkOptions options = {});

  /// The next chunk that is full, at the end those that are not; nothing when there is no more.
  std::optional<Chunk> next();

 private:
  /// The chunk of a type that is being filled.
  struct Open {
    Chunk chunk;
    std::size_t block_bytes = 0;
    /// Records of its type that were not taken yet.
    std::size_t left = 0;
  };

  Open& open_of(RecordType type) { return open_[static_cast<std::size_t>(type)]; }
  std::optional<Chunk> add(const repo::ListedRecord& record);
  Chunk take(RecordType type);

  const repo::RepositoryListing& listing_;
  const std::string did_;
  const atproto::Tid rev_;
  const std::uint64_t repository_;
  const ChunkOptions options_;
  RepositoryDecoder decoder_;
  std::size_t next_record_ = 0;
  std::array<Open, records::kRecordTypes.size()> open_;
};

}  // namespace skua::event

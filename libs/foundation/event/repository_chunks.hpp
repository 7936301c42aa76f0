#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "event/resolved_event.hpp"
#include "event/unresolved_event.hpp"
#include "repo/repository_listing.hpp"

namespace skua::event {

// A commit and a whole repository share these steps for one record. Functions whose name begins
// with `read` return an error message, which is empty on success.

/// Makes `out` a RecordChange at this path, with this revision and the type of its collection.
std::string read_path(std::string_view path, atproto::Tid rev, UnresolvedEvent& out);

/// Fills the change with its record. Copies the bytes of the record, so that the change does not
/// depend on its input. `scratch` is reusable memory.
std::string read_record(const atproto::Cid& cid, ByteView block, atproto::Document& scratch,
                        RecordChange& change);

/// Turns a RecordChange that cannot be used into a Rejection. Its payload is the part of the
/// record's block that the change contains. `operation` is empty if the operation is unknown.
void reject(std::string_view what, std::string error, std::optional<Operation> operation,
            UnresolvedEvent& out);

/// Decodes the records of whole repositories. Contains scratch memory: use one for each thread. No
/// I/O.
class RepositoryDecoder {
 public:
  /// Fills `out`, which is new, with a backfilled create that has the revision of the repository.
  /// If the record cannot be used (invalid path, larger than 1,000,000 bytes, not DAG-CBOR), `out`
  /// becomes a Rejection; its payload is the first 2,000,000 bytes of the block. `out` has no views
  /// into the listing or its CAR.
  void decode(std::string_view did, atproto::Tid rev, const repo::ListedRecord& record,
              UnresolvedEvent& out);

  UnresolvedEvent decode(std::string_view did, atproto::Tid rev, const repo::ListedRecord& record) {
    UnresolvedEvent event;
    decode(did, rev, record, event);
    return event;
  }

 private:
  atproto::Document scratch_;
};

/// The limits and selections with which a repository is divided into chunks.
struct ChunkOptions {
  std::size_t max_records = 5'000;
  /// The total size of the records' blocks in one chunk. A larger record forms a chunk of its own.
  std::size_t max_bytes = 4'000'000;
  /// Selects records to skip, such as records that are already stored. Skipped records are not
  /// decoded. An empty function skips no record.
  std::function<bool(const repo::ListedRecord&)> leave_out = nullptr;
  /// Selects decoded records to skip, such as records that are too old. An empty function skips no
  /// record.
  std::function<bool(const RecordChange&)> leave_out_decoded = nullptr;
  /// The `UnresolvedEvent::origin` of the events.
  std::uint32_t origin = 0;
};

/// Divides a repository into chunks, in one pass in key order. Records that cannot be used are
/// Rejections at their positions. At most one chunk of each type is buffered. A repository without
/// records has no chunks.
///
/// The listing must outlive this object; the chunks do not need it. One thread.
class RepositoryChunks {
 public:
  /// Each chunk gets the number `repository`.
  RepositoryChunks(const repo::RepositoryListing& listing, std::string did, atproto::Tid rev,
                   std::uint64_t repository, ChunkOptions options = {});

  /// Returns the next full chunk. After the last record it returns the chunks that are not full,
  /// and then nothing.
  std::optional<Chunk> next();

 private:
  /// The unfinished chunk of a type.
  struct Open {
    Chunk chunk;
    std::size_t block_bytes = 0;
    /// The number of remaining records of this type.
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

#include "event/repository_chunks.hpp"

#include <algorithm>
#include <utility>

#include "atproto/syntax.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {

namespace {

constexpr std::size_t kMaxRecord = 1'000'000;

/// The largest number of values in a record. PostgreSQL needs about a microsecond for a value of
/// jsonb. The records of the network have at most some hundred values, but a record of a megabyte
/// can contain a million.
constexpr std::size_t kMaxValues = 20'000;

/// The largest part of a block that is copied. No commit can contain a larger block. A block in a
/// repository's CAR can have any size, but only people look at oversized blocks.
constexpr std::size_t kMaxCopy = 2'000'000;

/// Returns the text before the first slash.
std::string_view collection_of(std::string_view path) {
  return path.substr(0, path.find_first_of('/'));
}

}  // namespace

std::string read_path(std::string_view path, atproto::Tid rev, UnresolvedEvent& out) {
  auto& change = out.body.emplace<RecordChange>();
  const auto parts = atproto::parse_repo_path(path);
  if (!parts) return "path: " + parts.error().message();
  out.type = records::record_type_of(parts->collection);
  change.collection = parts->collection;
  change.rkey = parts->rkey;
  change.rev = rev;
  return {};
}

std::string read_record(const atproto::Cid& cid, ByteView block, atproto::Document& scratch,
                        RecordChange& change) {
  change.cid = cid;
  const ByteView copied = block.first(std::min(block.size(), kMaxCopy));
  change.block.assign(copied.begin(), copied.end());
  if (block.size() > kMaxRecord) return "the record is larger than 1,000,000 bytes";

  if (const auto read = repo::read_dag_cbor(change.block, scratch, repo::kAnyForm); !read) {
    return "the record's block: " + read.error().message();
  }
  if (scratch.values() > kMaxValues) return "the record has more than 20,000 values";
  change.values = static_cast<std::uint32_t>(scratch.values());
  change.is_canonical = scratch.is_canonical();
  change.record = records::decode_record(change.collection, change.rkey, scratch);
  records::keep_block(change.record, change.block);
  return {};
}

void reject(std::string_view what, std::string error, std::optional<Operation> operation,
            UnresolvedEvent& out) {
  auto& change = std::get<RecordChange>(out.body);
  Rejection rejection;
  rejection.what = what;
  rejection.error = std::move(error);
  rejection.operation = operation;
  rejection.rev = change.rev;
  if (!change.block.empty()) rejection.cid = change.cid;
  rejection.payload = std::move(change.block);
  out.body = std::move(rejection);
}

RepositoryChunks::RepositoryChunks(const repo::RepositoryListing& listing, std::string did,
                                   atproto::Tid rev, std::uint64_t repository, ChunkOptions options)
    : listing_(listing),
      did_(std::move(did)),
      rev_(rev),
      repository_(repository),
      options_(std::move(options)) {
  // The records are in key order, so consecutive records mostly have the same collection, whose
  // counter is found once.
  std::string_view collection;
  std::size_t* left = nullptr;
  for (std::size_t i = 0; i < listing_.size(); ++i) {
    const std::string_view own = collection_of(listing_.path(i));
    if (left == nullptr || own != collection) left = &open_of(records::record_type_of(own)).left;
    collection = own;
    ++*left;
  }
}

std::optional<Chunk> RepositoryChunks::next() {
  while (next_record_ < listing_.size()) {
    const repo::ListedRecord record = listing_.at(next_record_++);
    if (options_.leave_out && options_.leave_out(record)) continue;
    if (auto full = add(record)) return full;
  }
  for (const RecordType type : records::kRecordTypes) {
    if (!open_of(type).chunk.events.empty()) return take(type);
  }
  return std::nullopt;
}

/// If the chunk of the record's type is full, returns it and starts a new one.
std::optional<Chunk> RepositoryChunks::add(const repo::ListedRecord& record) {
  const RecordType type = records::record_type_of(collection_of(record.path));
  Open& open = open_of(type);
  const bool has_room = open.chunk.events.size() < options_.max_records &&
                        open.block_bytes + record.block.size() <= options_.max_bytes;
  std::optional<Chunk> full;
  if (!has_room && !open.chunk.events.empty()) full = take(type);

  // Decodes the event in its final place, because an event has about 1 kB and each move costs time.
  if (open.chunk.events.empty())
    open.chunk.events.reserve(std::min(open.left, options_.max_records));
  UnresolvedEvent& event = open.chunk.events.emplace_back().event;
  decoder_.decode(did_, rev_, record, event);
  const auto* change = std::get_if<RecordChange>(&event.body);
  if (change != nullptr && options_.leave_out_decoded && options_.leave_out_decoded(*change)) {
    open.chunk.events.pop_back();
    return full;
  }
  // A record with an unreadable path has no record type, so the type of its chunk is used.
  event.type = type;
  event.origin = options_.origin;
  open.block_bytes += record.block.size();
  open.chunk.bytes +=
      sizeof(ResolvedEvent) + did_.size() + record.path.size() + record.block.size();
  return full;
}

Chunk RepositoryChunks::take(RecordType type) {
  Open& open = open_of(type);
  Chunk chunk = std::move(open.chunk);
  open = Open{.chunk = {}, .left = open.left - std::min(open.left, chunk.events.size())};
  chunk.repository = repository_;
  return chunk;
}

void RepositoryDecoder::decode(std::string_view did, atproto::Tid rev,
                               const repo::ListedRecord& record, UnresolvedEvent& out) {
  out.did = did;
  out.source = EventSource::Backfill;
  // Reads the block even if the path is invalid, because the block helps to find the fault.
  std::string path_error = read_path(record.path, rev, out);
  std::string error =
      read_record(record.cid, record.block, scratch_, std::get<RecordChange>(out.body));
  if (!path_error.empty()) error = std::move(path_error);
  if (!error.empty()) reject(record.path, std::move(error), Operation::Create, out);
}

}  // namespace skua::event

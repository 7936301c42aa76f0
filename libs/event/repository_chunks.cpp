#include "event/repository_chunks.hpp"

#include <algorithm>
#include <utility>

namespace skua::event {
namespace {

/// The text before the first slash.
std::string_view collection_of(std::string_view path) {
  return path.substr(0, path.find_first_of('/'));
}

}  // namespace

RepositoryChunks::RepositoryChunks(const repo::RepositoryListing& listing, std::string did,
                                   atproto::Tid rev, std::uint64_t repository, ChunkOptions options)
    : listing_(listing),
      did_(std::move(did)),
      rev_(rev),
      repository_(repository),
      options_(std::move(options)) {
  // In key order, so consecutive records mostly have the same collection.
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

  // Decoded in its final place: an event has about 1 kB, and each move costs time.
  if (open.chunk.events.empty())
    open.chunk.events.reserve(std::min(open.left, options_.max_records));
  UnresolvedEvent& event = open.chunk.events.emplace_back().event;
  decoder_.decode(did_, rev_, record, event);
  const auto* change = std::get_if<RecordChange>(&event.body);
  if (change != nullptr && options_.leave_out_decoded && options_.leave_out_decoded(*change)) {
    open.chunk.events.pop_back();
    return full;
  }
  // A record with an unreadable path has no type of its own.
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

}  // namespace skua::event

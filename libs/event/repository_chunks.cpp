#include "event/repository_chunks.hpp"

#include <utility>

namespace skua::event {

RepositoryChunks::RepositoryChunks(const repo::RepositoryListing& listing, std::string did,
                                   atproto::Tid rev, std::uint64_t repository, ChunkOptions options)
    : listing_(listing),
      did_(std::move(did)),
      rev_(rev),
      repository_(repository),
      options_(std::move(options)) {}

std::optional<UnresolvedBulk> RepositoryChunks::next() {
  while (next_record_ < listing_.size()) {
    const repo::ListedRecord record = listing_.at(next_record_++);
    if (options_.leave_out && options_.leave_out(record)) continue;
    if (auto full = add(decoder_.decode(did_, rev_, record), record)) return full;
  }
  for (const RecordType type : records::kRecordTypes) {
    if (!open_of(type).bulk.events.empty()) return take(type);
  }
  return std::nullopt;
}

/// Returns the chunk of the record's type when the record has no room in it, and begins a new one.
std::optional<UnresolvedBulk> RepositoryChunks::add(UnresolvedEvent event,
                                                    const repo::ListedRecord& record) {
  const RecordType type = event.type;
  Open& open = open_of(type);
  const bool has_room = open.bulk.events.size() < options_.max_records &&
                        open.block_bytes + record.block.size() <= options_.max_bytes;
  std::optional<UnresolvedBulk> full;
  if (!has_room && !open.bulk.events.empty()) full = take(type);

  open.block_bytes += record.block.size();
  open.bulk.bytes += sizeof(ResolvedEvent) + did_.size() + record.path.size() + record.block.size();
  open.bulk.events.emplace_back().event = std::move(event);
  return full;
}

UnresolvedBulk RepositoryChunks::take(RecordType type) {
  UnresolvedBulk bulk = std::move(std::exchange(open_of(type), Open{}).bulk);
  bulk.did = did_;
  bulk.type = type;
  bulk.repository = repository_;
  return bulk;
}

}  // namespace skua::event

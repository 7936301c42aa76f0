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
    if (auto full = add(record)) return full;
  }
  for (const RecordType type : records::kRecordTypes) {
    if (!open_of(type).bulk.events.empty()) return take(type);
  }
  return std::nullopt;
}

/// Returns the chunk of the record's type when the record has no room in it, and begins a new one.
std::optional<UnresolvedBulk> RepositoryChunks::add(const repo::ListedRecord& record) {
  const RecordType type =
      records::record_type_of(record.path.substr(0, record.path.find_first_of('/')));
  Open& open = open_of(type);
  const bool has_room = open.bulk.events.size() < options_.max_records &&
                        open.block_bytes + record.block.size() <= options_.max_bytes;
  std::optional<UnresolvedBulk> full;
  if (!has_room && !open.bulk.events.empty()) {
    full = take(type);
    // What was full once will be again, as a rule.
    open.bulk.events.reserve(full->events.size());
  }

  // Decoded where it stays: an event is about 1 kB, each move of it shows.
  UnresolvedEvent& event = open.bulk.events.emplace_back().event;
  decoder_.decode(did_, rev_, record, event);
  // A record without a path that could be read has no type of its own.
  event.type = type;
  open.block_bytes += record.block.size();
  open.bulk.bytes += sizeof(ResolvedEvent) + did_.size() + record.path.size() + record.block.size();
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

#include "event/record_decoder.hpp"

#include <algorithm>
#include <utility>

#include "atproto/syntax.hpp"
#include "repo/dag_cbor_reader.hpp"

namespace skua::event {
namespace {

constexpr std::size_t kMaxRecord = 1'000'000;

/// The largest number of values in a record. PostgreSQL needs about a microsecond for a value of
/// jsonb. The records of the network have some hundred at most; the largest number that a megabyte
/// can contain is a million.
constexpr std::size_t kMaxValues = 20'000;

/// The largest part of a block that is copied. No commit can contain a larger block. A block in a
/// repository's CAR can have any size, but only people look at oversized ones.
constexpr std::size_t kMaxCopy = 2'000'000;

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

}  // namespace skua::event

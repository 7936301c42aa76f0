#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "event/json_event.hpp"
#include "event/resolved_event.hpp"
#include "event/unresolved_event.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::test {

/// A create or update as decoding leaves it, from the record's JSON.
inline event::UnresolvedEvent made_write(const std::string& did, const std::string& collection,
                                         const std::string& rkey, std::uint64_t rev,
                                         const nlohmann::json& record,
                                         event::Operation operation = event::Operation::Create) {
  event::UnresolvedEvent event;
  event.did = did;
  event.type = records::record_type_of(collection);
  event.seq = static_cast<std::int64_t>(rev);
  event::RecordChange change;
  change.operation = operation;
  change.collection = collection;
  change.rkey = rkey;
  change.rev = {rev};
  auto block = event::json_to_dag_cbor(record);
  if (block.has_error()) throw std::invalid_argument(block.error().message());
  change.block = std::move(*block);
  change.cid = atproto::Cid::of(change.block);
  atproto::Document document;
  if (repo::read_dag_cbor(change.block, document, {.allow_floats = true}).has_error()) {
    throw std::invalid_argument("not DAG-CBOR: " + record.dump());
  }
  change.record = records::decode_record(collection, rkey, document);
  event.body = std::move(change);
  return event;
}

inline event::UnresolvedEvent made_delete(const std::string& did, const std::string& collection,
                                          const std::string& rkey, std::uint64_t rev) {
  event::UnresolvedEvent event;
  event.did = did;
  event.type = records::record_type_of(collection);
  event.seq = static_cast<std::int64_t>(rev);
  event::RecordChange change;
  change.operation = event::Operation::Delete;
  change.collection = collection;
  change.rkey = rkey;
  change.rev = {rev};
  event.body = std::move(change);
  return event;
}

inline nlohmann::json made_post(const std::string& text) {
  return {
      {"$type", "app.bsky.feed.post"}, {"text", text}, {"createdAt", "2026-01-02T03:04:05.678Z"}};
}

inline nlohmann::json made_follow(const std::string& subject) {
  return {{"$type", "app.bsky.graph.follow"},
          {"subject", subject},
          {"createdAt", "2026-01-02T03:04:05.678Z"}};
}

inline nlohmann::json made_like(const std::string& uri) {
  return {{"$type", "app.bsky.feed.like"},
          {"subject", {{"uri", uri}, {"cid", atproto::Cid::of(as_bytes("liked")).to_string()}}},
          {"createdAt", "2026-01-02T03:04:05.678Z"}};
}

/// As the writers take a batch.
inline std::vector<const event::ResolvedEvent*> pointers_to(
    const std::vector<event::ResolvedEvent>& events) {
  std::vector<const event::ResolvedEvent*> pointers;
  pointers.reserve(events.size());
  for (const event::ResolvedEvent& event : events) pointers.push_back(&event);
  return pointers;
}

}  // namespace skua::test

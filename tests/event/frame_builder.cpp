#include "event/frame_builder.hpp"

#include <stdexcept>
#include <utility>

#include "event/json_event.hpp"
#include "records/json_text.hpp"
#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::test {

Bytes cbor_of(const json& value) {
  auto cbor = event::json_to_dag_cbor(value);
  if (!cbor) throw std::runtime_error(cbor.error().message());
  return std::move(*cbor);
}

json bytes_json(const Bytes& bytes) {
  Bytes cbor;
  repo::CborWriter(cbor).bytes(bytes);
  atproto::Document document;
  if (!repo::read_dag_cbor(cbor, document)) throw std::runtime_error("bytes did not come back");
  std::string text;
  records::append_json(text, document.root());
  return json::parse(text);
}

json link_json(const atproto::Cid& cid) {
  return {{"$link", cid.to_string()}};
}

Bytes frame_of(const json& header, const json& body) {
  Bytes frame = cbor_of(header);
  const Bytes rest = cbor_of(body);
  frame.insert(frame.end(), rest.begin(), rest.end());
  return frame;
}

Bytes message(const std::string& type, const json& body) {
  return frame_of({{"op", 1}, {"t", type}}, body);
}

CommitBuilder& CommitBuilder::op(const json& op) {
  ops_.push_back(op);
  return *this;
}

CommitBuilder& CommitBuilder::op(const std::string& action, const std::string& path,
                                 const Bytes& block) {
  this->block(block);
  return op({{"action", action}, {"path", path}, {"cid", link_json(atproto::Cid::of(block))}});
}

CommitBuilder& CommitBuilder::remove(const std::string& path) {
  return op({{"action", "delete"}, {"path", path}, {"cid", nullptr}});
}

CommitBuilder& CommitBuilder::block(const Bytes& block) {
  blocks_.emplace_back(atproto::Cid::of(block), block);
  return *this;
}

CommitBuilder& CommitBuilder::wrong_block(const Bytes& block) {
  blocks_.emplace_back(atproto::Cid::of(as_bytes("something else")), block);
  return *this;
}

json CommitBuilder::body() const {
  const Bytes commit = cbor_of({{"stands", "for the commit"}});
  const std::vector roots = {atproto::Cid::of(commit)};
  Bytes car;
  repo::CarWriter writer(car, roots);
  writer.block(commit);
  for (const auto& [cid, data] : blocks_) writer.block(cid, data);
  return {{"seq", 42},
          {"repo", kDid},
          {"time", kTime},
          {"rev", kRev},
          {"since", nullptr},
          {"commit", link_json(roots.front())},
          {"prevData", link_json(roots.front())},
          {"blocks", bytes_json(car)},
          {"ops", ops_},
          {"blobs", json::array()},
          {"rebase", false},
          {"tooBig", false}};
}

json post_json(const std::string& text) {
  return {{"$type", "app.bsky.feed.post"}, {"text", text}, {"createdAt", "2026-07-04T14:38:08Z"}};
}

}  // namespace skua::test

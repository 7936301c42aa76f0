#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "event/json_event.hpp"
#include "event/label_frame.hpp"
#include "event/unresolved_event.hpp"

namespace skua::test {

/// A label without a signature, as a labeler makes it.
inline nlohmann::json made_label(const std::string& src, const std::string& uri,
                                 const std::string& val,
                                 const std::string& cts = "2026-01-02T03:04:05.678Z") {
  return {{"ver", 1}, {"src", src}, {"uri", uri}, {"val", val}, {"cts", cts}};
}

inline Bytes dag_cbor_of(const nlohmann::json& value) {
  auto bytes = event::json_to_dag_cbor(value);
  if (bytes.has_error()) throw std::invalid_argument(bytes.error().message());
  return *std::move(bytes);
}

/// The same with its signature.
inline nlohmann::json signed_label(nlohmann::json label, const atproto::SigningKey& key) {
  const auto signature = key.sign(dag_cbor_of(label));
  label["sig"] = nlohmann::json::binary({signature.begin(), signature.end()});
  return label;
}

/// A frame of `#labels`.
inline Bytes labels_frame(std::int64_t seq, const std::vector<nlohmann::json>& labels) {
  Bytes frame = dag_cbor_of({{"op", 1}, {"t", "#labels"}});
  const Bytes body = dag_cbor_of({{"seq", seq}, {"labels", labels}});
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

/// A label as decoding leaves it.
inline event::UnresolvedEvent made_label_event(const nlohmann::json& label, std::int64_t seq,
                                               std::uint32_t place = 0) {
  event::LabelFrameDecoder decoder;
  event::DecodedLabelFrame frame;
  if (!decoder.decode(labels_frame(seq, {label}), frame) || frame.labels.front().error) {
    throw std::invalid_argument("no label: " + label.dump());
  }
  event::UnresolvedEvent event;
  event.did = frame.labels.front().label.src;
  event.type = event::RecordType::Metadata;
  event.seq = seq;
  event::LabelChange change;
  change.place = place;
  change.label = frame.labels.front().label;
  change.block = std::move(frame.labels.front().block);
  event.body = std::move(change);
  return event;
}

}  // namespace skua::test

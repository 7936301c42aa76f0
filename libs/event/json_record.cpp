#include "event/json_record.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "event/json_transcoder.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::event {
namespace {

using nlohmann::json;

/// The JSON form of bytes in the AT Protocol data model.
json bytes_json(ByteView bytes) {
  Bytes cbor;
  repo::CborWriter(cbor).bytes(bytes);
  atproto::Document document;
  std::string text;
  if (repo::read_dag_cbor(cbor, document)) records::append_json(text, document.root());
  return json::parse(text);
}

/// Replaces binary values, which the JSON library cannot write as text.
void write_out_binaries(json& value) {
  if (value.is_binary()) {
    value = bytes_json(value.get_binary());
  } else if (value.is_structured()) {
    for (json& item : value) write_out_binaries(item);
  }
}

}  // namespace

Result<Bytes> json_to_dag_cbor(const json& record) {
  json plain = record;
  write_out_binaries(plain);
  Bytes out;
  if (const auto written = JsonTranscoder().append(plain.dump(), out); !written) {
    return written.error();
  }
  return out;
}

}  // namespace skua::event

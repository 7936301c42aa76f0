#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::event {

/// Turns a record in JSON (atproto.com/specs/data-model, JSON representation) into the DAG-CBOR
/// that the one record decoder reads: keys in DAG-CBOR order, `$link` a link, `$bytes` bytes
/// (base64, with or without padding), `123.0` an integer. Other floats become floats: the decoder
/// is to find them. Error: a `$link` or `$bytes` that is none, an integer beyond 64 bits, nesting
/// beyond 128.
Result<Bytes> json_to_dag_cbor(const nlohmann::json& record);

}  // namespace skua::event

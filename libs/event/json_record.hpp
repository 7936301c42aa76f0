#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::event {

/// Converts a JSON record to DAG-CBOR as `JsonTranscoder` does, for programs that create records,
/// not for streams. Binary values become bytes. Throws on text that is not UTF-8.
Result<Bytes> json_to_dag_cbor(const nlohmann::json& record);

}  // namespace skua::event

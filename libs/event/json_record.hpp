#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::event {

/// Turns a record in JSON into DAG-CBOR as `JsonTranscoder` does; for those who make records, not
/// for streams. Binary values are bytes. Text that is not UTF-8 throws.
Result<Bytes> json_to_dag_cbor(const nlohmann::json& record);

}  // namespace skua::event

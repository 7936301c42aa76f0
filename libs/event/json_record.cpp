#include "event/json_record.hpp"

#include <nlohmann/json.hpp>

#include "event/json_transcoder.hpp"

namespace skua::event {

Result<Bytes> json_to_dag_cbor(const nlohmann::json& record) {
  Bytes out;
  if (const auto written = JsonTranscoder().append(record.dump(), out); !written) {
    return written.error();
  }
  return out;
}

}  // namespace skua::event

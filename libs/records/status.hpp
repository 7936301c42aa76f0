#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"

namespace skua::records {

class FieldReader;

/// What an account is doing, such as being live.
struct Status {
  static constexpr std::string_view kCollection = "app.bsky.actor.status";
  static constexpr std::int32_t kCollectionId = 15;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view status;
  /// As in the record; empty when absent.
  std::string embed_json;
  std::optional<std::int64_t> duration_minutes;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Status decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records

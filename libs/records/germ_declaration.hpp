#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "records/record_type.hpp"

namespace skua::records {

class FieldReader;

/// The account's key for Germ messages. The lexicon has no createdAt; all else it has is in
/// `extra`.
struct GermDeclaration {
  static constexpr std::string_view kCollection = "com.germnetwork.declaration";
  static constexpr std::int32_t kCollectionId = 18;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view version;
  ByteView current_key;
  std::optional<Timestamp> created_at;
  std::string extra;

  static GermDeclaration decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records

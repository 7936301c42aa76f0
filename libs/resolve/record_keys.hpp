#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "store/session.hpp"

namespace skua::resolve {

/// The key of a row of `bsky.rkeys`.
struct RecordKey {
  std::int32_t actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};

/// The statement of a batch about a record key whose number does not determine its text.
struct KeyText {
  std::string_view text;
  /// False: only compared, as a delete does.
  bool insert = true;
};

/// Record keys whose stored text is another than the batch's, with the stored one.
using KeyConflicts = std::map<RecordKey, std::string>;

/// Compares the texts with `bsky.rkeys` and inserts those that are absent. Outside any transaction.
/// Throws store::SqlError; may then be called again.
KeyConflicts store_key_texts(store::Session& session, const std::map<RecordKey, KeyText>& texts);

}  // namespace skua::resolve

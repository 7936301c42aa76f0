#pragma once

#include <map>
#include <string>
#include <string_view>

#include "store/record_key.hpp"
#include "store/session.hpp"

namespace skua::resolve {

/// The statement of a batch about a record key whose number does not determine its text.
struct KeyText {
  std::string_view text;
  /// False: only compared, as a delete does.
  bool insert = true;
};

/// Record keys whose stored text is another than the batch's, with the stored one.
using KeyConflicts = std::map<store::RecordKey, std::string>;

/// Compares the texts with `bsky.rkeys` and inserts those that are absent. Outside any transaction.
/// Throws store::SqlError; may then be called again.
KeyConflicts store_key_texts(store::Session& session,
                             const std::map<store::RecordKey, KeyText>& texts);

}  // namespace skua::resolve

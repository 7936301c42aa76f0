#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "world/account.hpp"
#include "world/random.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

struct Theme;

/// Makes a random record of a collection that has a struct (`records::Record`), with the fields
/// that its decoder requires and no others. The decoder names a fault, the field gets a value
/// without this fault, and this is repeated until the record is valid. References name a post or an
/// account of the network. Throws std::logic_error if the decoder reports a fault that this
/// function cannot correct.
nlohmann::json make_minimal(Random& random, const Subjects& subjects, std::string_view nsid,
                            std::string_view rkey, Timestamp now);

/// Makes records that are valid by their lexicons (app.bsky, chat.bsky, com.germnetwork), in the
/// JSON form of the data model. One thread.
class RecordMaker {
 public:
  RecordMaker(Random& random, const Subjects& subjects) : random_(random), subjects_(subjects) {}

  /// Makes a record of an account, as of `now`. Gates are about the post with the key `rkey`. A
  /// collection without an enumerator gets a minimal record.
  nlohmann::json make(Collection collection, const Account& author, const std::string& rkey,
                      Timestamp now);

 private:
  nlohmann::json subject_of(Collection collection, const Account& author, Timestamp now);
  nlohmann::json gate(Collection collection, const Account& author, const std::string& rkey,
                      Timestamp now);
  nlohmann::json curated(Collection collection, const Account& author, Timestamp now);
  // These functions add the fields that only one of the curated collections has.
  void complete_starter_pack(nlohmann::json& record, const Theme& theme, const Account& author);
  void complete_list(nlohmann::json& record, const Theme& theme);
  void complete_feed(nlohmann::json& record, const Theme& theme);
  nlohmann::json declaration(Collection collection, const Account& author, Timestamp now);
  nlohmann::json profile(const Account& author, Timestamp now);
  nlohmann::json labeler(Timestamp now);
  nlohmann::json unknown(Collection collection, const Account& author, Timestamp now);
  std::string list_uri(const Account& author);

  Random& random_;
  const Subjects& subjects_;
};

/// Makes an app.bsky.feed.post of an account: text and facets, replies, quotes, media.
nlohmann::json make_post(Random& random, const Subjects& subjects, const std::string& did,
                         const std::string& rkey, Timestamp now);

/// Returns a datetime as clients write it, mostly with milliseconds and Z.
std::string client_datetime(Random& random, Timestamp now);

/// Returns a blob that does not exist.
nlohmann::json random_blob(Random& random, const std::string& mime_type, std::size_t max_size);

/// Returns a com.atproto.repo.strongRef.
nlohmann::json strong_ref(const StrongRef& ref);

}  // namespace skua::sim

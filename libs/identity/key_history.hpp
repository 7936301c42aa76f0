#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/multikey.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::identity {

/// What an account signs with a key.
enum class KeyUse : std::uint8_t { Commits, Labels };

/// The signing keys of an account, from `since` until the next ones.
struct FormerKey {
  Timestamp since;
  /// Nothing: it had none then.
  std::optional<atproto::Multikey> key;
  /// Of a labeler.
  std::optional<atproto::Multikey> label_key = {};
};

/// The keys of a did:plc account in the order of their times, the one in use last.
using KeyHistory = std::vector<FormerKey>;

/// Reads the log of a PLC directory, `/<did>/log/audit`: an array of operations. Those that were
/// struck out are left out, and those of a form that is not known. Error: document_json.
Result<KeyHistory> read_key_history(std::string_view json, std::string_view did);

/// By how much the clocks of a host and of a directory may differ. The time of a revision or of a
/// label is that of its host, and a host may begin to use a key before or after the directory has
/// it.
inline constexpr std::chrono::minutes kKeyTolerance{5};
/// The most keys of one moment: an account may change its keys as often as its directory permits.
inline constexpr std::size_t kMaxKeysNear = 8;

/// The keys that were in use within kKeyTolerance of a moment, each of them once, the nearest
/// first, at most kMaxKeysNear. A key that was replaced earlier is not among them: whoever steals
/// it later cannot sign with it.
std::vector<atproto::Multikey> keys_near(const KeyHistory& history, Timestamp time,
                                         KeyUse use = KeyUse::Commits);

/// Asks a directory. `done` is called once, on the HTTP client's thread. Errors: did_not_found,
/// did_method (not a did:plc), server_failed, rate_limited, document_json, or transport's.
void ask_key_history(transport::HttpClient& http, const std::string& plc_url,
                     const std::string& did, std::function<void(Result<KeyHistory>)> done);

}  // namespace skua::identity

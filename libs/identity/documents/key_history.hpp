#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/signing.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

/// The messages that a key signs.
enum class KeyUse : std::uint8_t { Commits, Labels };

/// The signing keys of an account, from `since` until the `since` of the next ones.
struct FormerKey {
  Timestamp since;
  /// The key that signs commits, or nothing if the account had none.
  std::optional<atproto::Multikey> key;
  /// The key that signs labels, or nothing if the account had none.
  std::optional<atproto::Multikey> label_key = {};
};

/// The keys of a did:plc account in the order of their times. The current keys are the last.
using KeyHistory = std::vector<FormerKey>;

/// Reads the log of a PLC directory, `/<did>/log/audit`, which is an array of operations. Nullified
/// operations and operations of an unknown form are left out. Error: document_json.
Result<KeyHistory> read_key_history(std::string_view json, std::string_view did);

/// The time after its replacement in which a key may still have signed something. The time of a
/// revision or of a label comes from its host, whose clock may be fast. A host may also begin to
/// use a new key later than the directory lists the key.
inline constexpr std::chrono::minutes kReplacedKeyTolerance{5};
/// The largest number of keys for one time. The limit exists because an account may change its keys
/// as often as the directory permits.
inline constexpr std::size_t kMaxKeysNear = 8;

/// Returns the keys that may have signed something at a time by the clock of a host. These are the
/// keys in use then or later, because the clock may be slow, and the keys that were replaced at
/// most kReplacedKeyTolerance before. An older key is not accepted, because it may be stolen.
/// Returns each key once, the nearest first, and at most kMaxKeysNear keys.
std::vector<atproto::Multikey> keys_near(const KeyHistory& history, Timestamp time,
                                         KeyUse use = KeyUse::Commits);

/// Returns the request for the log of a DID to a directory. Error: did_method, if the DID is not a
/// did:plc.
Result<transport::HttpRequest> key_history_request(const std::string& plc_url,
                                                   const std::string& did);

/// Reads the history from the answer to that request. Errors: those of transport, did_not_found,
/// rate_limited, server_failed, document_json, unforeseen.
Result<KeyHistory> read_key_history(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did);

}  // namespace skua::documents

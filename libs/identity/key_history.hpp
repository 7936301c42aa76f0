#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// How long after its replacement a key may still have signed something: the time of a revision or
/// of a label is that of its host, whose clock may be fast, and a host may begin to use a new key
/// later than the directory has it.
inline constexpr std::chrono::minutes kReplacedKeyTolerance{5};
/// The most keys of one moment: an account may change its keys as often as its directory permits.
inline constexpr std::size_t kMaxKeysNear = 8;

/// The keys that may have signed something at a moment, by the clock of a host: those in use then
/// or later, because the clock may be slow, and those that were replaced at most
/// kReplacedKeyTolerance before. Whoever steals an older key cannot sign with it. Each key once,
/// the nearest first, at most kMaxKeysNear.
std::vector<atproto::Multikey> keys_near(const KeyHistory& history, Timestamp time,
                                         KeyUse use = KeyUse::Commits);

/// The request for the log of a DID to a directory. Error: did_method (not a did:plc).
Result<transport::HttpRequest> key_history_request(const std::string& plc_url,
                                                   const std::string& did);

/// The history of the answer to that request. Errors: those of transport, did_not_found,
/// rate_limited, server_failed, document_json, unforeseen.
Result<KeyHistory> read_key_history(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did);

}  // namespace skua::identity

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "store/filter_table.hpp"
#include "transport/spooled_body.hpp"

namespace skua::backfill {

/// Who signs for an account, where it lives, and the handle that its document claims.
struct AccountDocument {
  atproto::VerifyingKey key;
  /// An origin; empty where nobody knows it, as for CAR files.
  std::string pds;
  /// Empty: none.
  std::string handle;
};

/// Finds an account's document; `fresh`: not as it is remembered, because a signature did not fit
/// it. `done` is called once, on some thread, or at once on the caller's, and does not block.
using FindDocument = std::function<void(const std::string& did, bool fresh,
                                        std::function<void(Result<AccountDocument>)> done)>;

/// Why a document was not found, for people: names the host that was asked. Any thread.
using DocumentFailure = std::function<std::string(const std::string& did, const ErrorCode& error)>;

/// A repository's CAR as it came, and what it is judged by. Moved, never copied.
struct FetchedRepository {
  Job job;
  ByteView car;
  /// Keeps the bytes of `car` where they are.
  std::shared_ptr<const void> bytes;
  /// Where they lie in a file; null: in memory.
  const transport::SpooledBody* mapped = nullptr;
  /// Nothing: signatures are not checked.
  std::optional<AccountDocument> document;
  /// When a place at its host was taken for it (HostLimits::started).
  Timestamp started_at;
  bool document_is_fresh = false;
  /// Where the repository was known to stand when its job began: a CAR that is older may hold what
  /// was deleted since.
  std::optional<atproto::Tid> known;
  /// It was asked for with `since`.
  bool is_partial = false;
  /// It must not be.
  bool wants_whole = false;
  /// What of it is stored, and the version of the filter as of which it was asked for
  /// (FilterState::settled).
  std::shared_ptr<const store::Filter> filter;
  std::int64_t filter_version = 0;
};

}  // namespace skua::backfill

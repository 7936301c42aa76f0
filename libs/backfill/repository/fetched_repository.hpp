#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backfill/queue/leased_job.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "identity/account.hpp"
#include "transport/spooled_body.hpp"

namespace skua::backfill {

/// Finds an account by its document. `fresh`: not the stored one, because a signature does not
/// match it. `done` is called once, on any thread, possibly before the call returns, and does not
/// block.
using FindAccount = std::function<void(const std::string& did, bool fresh,
                                       std::function<void(Result<identity::Account>)> done)>;

/// Why an account was not found, for people: names the host that was asked. Any thread.
using AccountFailure = std::function<std::string(const std::string& did, const ErrorCode& error)>;

/// A job and its repository's CAR. Moved, never copied.
struct FetchedRepository : LeasedJob {
  /// Nothing: signatures are not checked.
  std::optional<identity::Account> account = std::nullopt;
  /// When the host that the document names was asked for it; the epoch: it was not.
  Timestamp requested_at = {};
  /// It was requested with `since`.
  bool is_partial = false;
  ByteView car = {};
  /// Owns the bytes of `car`.
  std::shared_ptr<const void> bytes = nullptr;
  /// The file that contains them; null: they are in memory.
  const transport::SpooledBody* mapped = nullptr;
};

}  // namespace skua::backfill

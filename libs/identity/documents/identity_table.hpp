#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "documents/did_document.hpp"
#include "postgres/session.hpp"

namespace skua::documents {

/// A row of `skua.identities`. A member is empty if the account does not have the value.
struct IdentityRow {
  std::string did;
  /// The key as a multikey, `z...`.
  std::string signing_key;
  std::string pds;
  std::string handle;
  Timestamp fetched_at;
  /// The time at which the operation was made. Only rows of an import have it.
  std::optional<Timestamp> operation_at = {};
  /// The key of a labeler, as a multikey.
  std::string label_key = {};
  /// The time of the first operation of the DID. Only a row of an import that has this operation
  /// has the time.
  std::optional<Timestamp> created_at = {};
  /// The time up to which the export of the PLC directory (`skua.plc_cursor`) has kept this row
  /// current. Set only when a row is loaded, and only if the row follows the export.
  std::optional<Timestamp> current_at = {};
};

/// Returns the rows of the DIDs that are known with key and PDS, or with a key for labels, in any
/// order. All functions below throw SqlError.
std::vector<IdentityRow> load_identities(postgres::Session& session,
                                         std::span<const std::string> dids);

/// Writes the content of documents, and replaces older content. `rows` has one row for each DID, in
/// any order.
void save_identities(postgres::Session& session, std::vector<IdentityRow> rows);

/// Writes the content of an export, where each row has operation_at, and replaces content that is
/// older than the operation. `rows` has one row for each DID, in any order. Returns the number of
/// rows written.
std::size_t import_identities(postgres::Session& session, std::vector<IdentityRow> rows);

/// Returns nothing if the row has no usable key.
std::optional<Account> account_of(const IdentityRow& row);
IdentityRow row_of(const Account& account);

/// Accesses `skua.identities` for a part of the program that works without the table while the
/// database is not available, because all content of the table can be fetched again. One thread.
class StoredIdentities {
 public:
  /// With an empty `database_url` nothing is stored. `session_name` is the name of the session for
  /// other sessions.
  StoredIdentities(std::string database_url, std::string session_name)
      : url_(std::move(database_url)), name_(std::move(session_name)) {}

  std::vector<IdentityRow> load(const std::vector<std::string>& dids);
  void save(std::vector<IdentityRow> rows);

 private:
  void perform(const std::function<void(postgres::Session&)>& work);

  const std::string url_;
  const std::string name_;
  std::unique_ptr<postgres::Session> session_;
  std::chrono::steady_clock::time_point away_until_;
};

}  // namespace skua::documents

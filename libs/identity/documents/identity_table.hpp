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

/// A row of `skua.identities`. What an account does not have is empty.
struct IdentityRow {
  std::string did;
  /// A multikey, `z...`.
  std::string signing_key;
  std::string pds;
  std::string handle;
  Timestamp fetched_at;
  /// Of an import: when the operation was made.
  std::optional<Timestamp> operation_at = {};
  /// A labeler's, as a multikey.
  std::string label_key = {};
  /// Of an import that has the first operation of the DID: when it was made.
  std::optional<Timestamp> created_at = {};
  /// When loaded: the time up to which the export of the PLC directory (`skua.plc_cursor`) has kept
  /// this row current; nothing: it does not follow the export.
  std::optional<Timestamp> current_at = {};
};

/// The rows of those DIDs that are known with key and PDS, or with a key for labels, in no order.
/// Throws SqlError, as all here.
std::vector<IdentityRow> load_identities(postgres::Session& session,
                                         std::span<const std::string> dids);

/// Writes the content of documents, and replaces older content. One row for each DID, in any order.
void save_identities(postgres::Session& session, std::vector<IdentityRow> rows);

/// Writes the content of an export (each row with operation_at), and replaces content that is older
/// than the operation. One row for each DID, in any order. Returns the number of rows written.
std::size_t import_identities(postgres::Session& session, std::vector<IdentityRow> rows);

/// Nothing: the row has no usable key.
std::optional<Account> account_of(const IdentityRow& row);
IdentityRow row_of(const Account& account);

/// `skua.identities` for a part that works without the table while the database is away: everything
/// in it can be fetched again. One thread.
class StoredIdentities {
 public:
  /// An empty `database_url`: nothing is stored. `session_name` is how other sessions see this one.
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

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/collection_filter.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// The entries of a filter. Each list is sorted and has no duplicates. An empty list passes
/// everything.
struct FilterContent {
  /// The collections, as NSIDs or prefixes that end in `.*` (atproto::is_collection_pattern).
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  /// The AT-URIs of lists, with DIDs. The loaded filter has no lists, because `dids` contains their
  /// accounts.
  std::vector<std::string> lists = {};

  bool empty() const { return collections.empty() && dids.empty() && lists.empty(); }
  friend bool operator==(const FilterContent&, const FilterContent&) = default;
};

/// The time for which records of a collection are kept (`skua.retention`).
struct KeepTime {
  std::string collection;
  std::chrono::seconds keep{0};
  friend bool operator==(const KeepTime&, const KeepTime&) = default;
};

/// Content that is removed although the filter passes it: the content of excluded accounts
/// (`skua.excluded_accounts`), which are sorted, and old records.
struct FilterLimits {
  std::vector<std::string> excluded;
  std::vector<KeepTime> retention;

  bool empty() const { return excluded.empty() && retention.empty(); }
};

/// One version of the filter (`skua.filter`), with the excluded accounts and the retention.
/// Immutable: any thread.
class Filter {
 public:
  /// Passes everything and has no version.
  Filter() = default;
  Filter(std::int64_t version, FilterContent content, FilterLimits limits = {})
      : version_(version),
        content_(std::move(content)),
        limits_(std::move(limits)),
        collections_(content_.collections) {}

  /// The version increases with every change.
  std::int64_t version() const { return version_; }
  const FilterContent& content() const { return content_; }
  const FilterLimits& limits() const { return limits_; }

  /// Whether events of this account are processed. Events of an excluded account are not processed.
  bool passes_did(std::string_view did) const;
  bool excludes(std::string_view did) const;
  /// Whether a record with this `createdAt` is older than the retention of its collection permits.
  bool is_expired(std::string_view collection, std::optional<Timestamp> created_at,
                  Timestamp now) const;
  /// Whether records of this collection are stored.
  bool passes_collection(std::string_view collection) const {
    return collections_.passes(collection);
  }
  /// Whether records of all collections and ages are stored.
  bool passes_all_records() const { return collections_.passes_all() && limits_.retention.empty(); }

 private:
  std::int64_t version_ = 0;
  FilterContent content_;
  FilterLimits limits_;
  atproto::CollectionFilter collections_;
};

/// The columns of `skua.filter_state` besides the content.
struct FilterState {
  std::int64_t version = 0;
  /// The last version that passed more collections than its predecessor, or 0 if there was none.
  std::int64_t widened = 0;
  /// The version for which a request that is made now is valid. This is the previous version while
  /// processes may still use it.
  std::int64_t settled = 0;
  /// Whether more than half of the time until `version` is settled has passed, so that a process
  /// that does not know `widened` is late.
  bool is_late = false;
  /// Whether some repositories that the wider filter makes incomplete are not marked yet.
  bool is_marking = false;
};

/// All functions below throw SqlError.
FilterState load_filter_state(postgres::Session& session);
std::shared_ptr<const Filter> load_filter(postgres::Session& session);
/// Returns the entries of `skua.filter`, with its lists.
FilterContent load_filter_entries(postgres::Session& session);
/// Changes the filter if the accounts on its lists have changed.
void refresh_filter_lists(postgres::Session& session);

/// The result of a change.
struct FilterChange {
  FilterContent before;
  FilterContent after;
  bool is_change() const { return before != after; }
};

enum class FilterEdit : std::uint8_t { Set, Add, Remove };

/// Replaces the stored filter with `content`, or adds or removes the entries of `content`, in a
/// transaction of its own and with all consequences. Throws DataError for a name that is neither a
/// collection nor a DID.
FilterChange change_filter(postgres::Session& session, FilterEdit edit,
                           const FilterContent& content);

/// Excludes accounts, or includes them again, in a transaction of its own and with all
/// consequences. Returns the number of accounts that this changes. Throws DataError for a name that
/// is not a DID.
std::size_t exclude_accounts(postgres::Session& session, const std::vector<std::string>& dids);
std::size_t include_accounts(postgres::Session& session, const std::vector<std::string>& dids);

/// Sets the time for which records of a collection are kept; without a time all records are kept.
/// Returns false if nothing changes. Throws DataError for a name that is not a collection, and for
/// a time that is out of range.
bool set_retention(postgres::Session& session, std::string_view collection,
                   std::optional<std::chrono::seconds> keep);

/// Does one step of applying a wider filter to many repositories. Each step is one transaction.
/// Returns false if all repositories are done.
bool mark_for_filter(postgres::Session& session);

/// Returns the number of repositories that wait for a resync because the filter became wider.
std::int64_t waiting_for_filter(postgres::Session& session);

/// Must be called if this process skipped records after the filter had become wider, because
/// requests since then may lack these records. Applies the consequences again, as if the filter
/// became wider now.
void widen_filter_again(postgres::Session& session);

}  // namespace skua::tables

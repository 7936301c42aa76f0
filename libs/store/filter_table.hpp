#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/collection_filter.hpp"
#include "store/session.hpp"

namespace skua::store {

/// The entries of a filter. Each list is sorted and has no duplicates; an empty list lets
/// everything through.
struct FilterContent {
  /// NSIDs, or prefixes that end in `.*` (atproto::is_collection_pattern).
  std::vector<std::string> collections;
  std::vector<std::string> dids;

  bool empty() const { return collections.empty() && dids.empty(); }
  friend bool operator==(const FilterContent&, const FilterContent&) = default;
};

/// One version of the filter (`skua.filter`). Immutable: any thread.
class Filter {
 public:
  /// Lets everything through; has no version.
  Filter() = default;
  Filter(std::int64_t version, FilterContent content)
      : version_(version), content_(std::move(content)), collections_(content_.collections) {}

  /// Increases with every change.
  std::int64_t version() const { return version_; }
  const FilterContent& content() const { return content_; }

  /// Whether events of this account are processed.
  bool passes_did(std::string_view did) const;
  /// Whether records of this collection are stored.
  bool passes_collection(std::string_view collection) const {
    return collections_.passes(collection);
  }
  bool passes_all_collections() const { return collections_.passes_all(); }

 private:
  std::int64_t version_ = 0;
  FilterContent content_;
  atproto::CollectionFilter collections_;
};

/// The columns of `skua.filter_state` besides the content.
struct FilterState {
  std::int64_t version = 0;
  /// The last version that admitted more collections; 0: none did.
  std::int64_t widened = 0;
  /// A request that is made now is valid as of this version. This is the previous version while
  /// processes may still use it.
  std::int64_t settled = 0;
  /// More than half of that time has passed: a process that does not know `widened` is late.
  bool is_late = false;
  /// Some repositories that the wider filter makes incomplete are not marked yet.
  bool is_marking = false;
};

/// All throw SqlError.
FilterState load_filter_state(Session& session);
std::shared_ptr<const Filter> load_filter(Session& session);

/// The result of a change.
struct FilterChange {
  FilterContent before;
  FilterContent after;
  bool is_change() const { return before != after; }
};

enum class FilterEdit : std::uint8_t { Set, Add, Remove };

/// Replaces the stored filter with `content`, or edits it by `content`, in a transaction of its own
/// and with all consequences. Throws DataError for a name that is neither a collection nor a DID.
FilterChange change_filter(Session& session, FilterEdit edit, const FilterContent& content);

/// One step of applying a wider filter to many repositories; each step is one transaction. False:
/// all are done.
bool mark_for_filter(Session& session);

/// Repositories that wait for a resync because the filter became wider.
std::int64_t waiting_for_filter(Session& session);

/// This process skipped records after the filter had become wider, so requests since then may lack
/// them. Applies the consequences again as if the filter became wider now.
void widen_filter_again(Session& session);

}  // namespace skua::store

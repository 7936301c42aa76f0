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
  /// Everything, of no version.
  Filter() = default;
  Filter(std::int64_t version, FilterContent content)
      : version_(version), content_(std::move(content)), collections_(content_.collections) {}

  /// Every change raises it.
  std::int64_t version() const { return version_; }
  const FilterContent& content() const { return content_; }

  /// Whether what an account sends is read.
  bool passes_did(std::string_view did) const;
  /// Whether records of a collection are stored.
  bool passes_collection(std::string_view collection) const {
    return collections_.passes(collection);
  }
  bool passes_all_collections() const { return collections_.passes_all(); }

 private:
  std::int64_t version_ = 0;
  FilterContent content_;
  atproto::CollectionFilter collections_;
};

/// What `skua.filter_state` says beside the content.
struct FilterState {
  std::int64_t version = 0;
  /// The version that last let more collections through; 0: none did.
  std::int64_t widened = 0;
  /// A request that is made now is valid as of this version: the previous one while processes may
  /// still use it.
  std::int64_t settled = 0;
  /// More than half of that time has passed: a process that did not know `widened` is late.
  bool is_late = false;
  /// Repositories that a wider filter makes incomplete are still to be marked.
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

/// Changes the stored filter to `content`, or by it, in a transaction of its own, with all
/// consequences. DataError for a name that is neither a collection nor a DID.
FilterChange change_filter(Session& session, FilterEdit edit, const FilterContent& content);

/// One step of the consequences of a wider filter, for many repositories; each step is a
/// transaction. False: nothing is left to do.
bool mark_for_filter(Session& session);

/// Repositories that wait for a resync because the filter became wider.
std::int64_t waiting_for_filter(Session& session);

/// This process left records out after the filter had become wider, and requests since then may
/// lack them. Repeats the consequences as if the filter became wider now.
void widen_filter_again(Session& session);

}  // namespace skua::store

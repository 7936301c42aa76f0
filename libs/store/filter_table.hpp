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

/// What a filter names. Each list sorted, without doubles; an empty one lets everything through.
struct FilterContent {
  /// NSIDs, or prefixes that end in `.*` (atproto::is_collection_pattern).
  std::vector<std::string> collections;
  std::vector<std::string> dids;

  bool empty() const { return collections.empty() && dids.empty(); }
  friend bool operator==(const FilterContent&, const FilterContent&) = default;
};

/// What is stored of the network (`skua.filter`), as of one version. Never changes: any thread.
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
  /// What is asked for at this moment is good as of this version: that of before, while processes
  /// may still go by it.
  std::int64_t settled = 0;
  /// More than half of that time is over: who did not know of `widened` is late.
  bool is_late = false;
  /// Repositories that a wider filter makes incomplete are still to be marked.
  bool is_marking = false;
};

/// All throw SqlError.
FilterState load_filter_state(Session& session);
std::shared_ptr<const Filter> load_filter(Session& session);

/// What a change did.
struct FilterChange {
  FilterContent before;
  FilterContent after;
  bool is_change() const { return before != after; }
};

enum class FilterEdit : std::uint8_t { Set, Add, Remove };

/// Changes the stored filter to `content`, or by it, in a transaction of its own; all that follows
/// from it is in the same. DataError for what is no collection and no DID.
FilterChange change_filter(Session& session, FilterEdit edit, const FilterContent& content);

/// A step of what follows from a wider filter where there are many repositories; each a transaction
/// of its own. False: nothing is left to do.
bool mark_for_filter(Session& session);

/// Repositories that wait for a resync because the filter became wider.
std::int64_t waiting_for_filter(Session& session);

/// What this process left out after the filter had become wider may be missing in what was asked
/// for meanwhile: as if it became wider now.
void widen_filter_again(Session& session);

}  // namespace skua::store

#pragma once

#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "event/unresolved_event.hpp"
#include "repo/repository_listing.hpp"

namespace skua::event {

/// Decodes the records of whole repositories. Holds scratch memory: one a thread, no I/O.
class RepositoryDecoder {
 public:
  /// Fills `out`, which is new, with a create out of the account's history, its revision that of
  /// the repository; or with a Rejection when the record cannot be used (its path is none, it is
  /// larger than 1,000,000 bytes, it is not DAG-CBOR): its payload is the block, as far as
  /// 2,000,000 bytes. Nothing in `out` points into the listing or its CAR.
  void decode(std::string_view did, atproto::Tid rev, const repo::ListedRecord& record,
              UnresolvedEvent& out);

  UnresolvedEvent decode(std::string_view did, atproto::Tid rev, const repo::ListedRecord& record) {
    UnresolvedEvent event;
    decode(did, rev, record, event);
    return event;
  }

 private:
  atproto::Document scratch_;
};

}  // namespace skua::event

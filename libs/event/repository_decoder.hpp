#pragma once

#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "event/unresolved_event.hpp"
#include "repo/repository_listing.hpp"

namespace skua::event {

/// Decodes the records of whole repositories. Contains scratch memory: use one for each thread. No
/// I/O.
class RepositoryDecoder {
 public:
  /// Fills `out`, which is new, with a backfilled create that has the revision of the repository.
  /// If the record cannot be used (invalid path, larger than 1,000,000 bytes, not DAG-CBOR), `out`
  /// becomes a Rejection; its payload is the first 2,000,000 bytes of the block. `out` has no views
  /// into the listing or its CAR.
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

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "message.hpp"

namespace skua::sim {

/// An op of a #commit message. `cid`: of a create or update; `prev`: of an update or delete.
struct CommitOp {
  std::string_view action;  // a literal
  std::string path;
  std::optional<atproto::Cid> cid;
  std::optional<atproto::Cid> prev;
};

/// The parts of a #commit message (atproto.com/specs/sync#commit), so that a single part can be
/// falsified. Blocks are stored under the CIDs that they claim to have.
struct CommitFrame {
  std::string did;
  Timestamp time;
  std::string rev;
  std::optional<std::string> since;
  std::optional<atproto::Cid> prev_data;
  /// The commit block's CID, which is the CAR's root too.
  atproto::Cid commit;
  std::vector<CommitOp> ops;
  /// The commit, records, tree nodes.
  std::vector<std::pair<atproto::Cid, Bytes>> blocks;
};

Message commit_message(const CommitFrame& commit);

/// #sync: the state of a repository. `commit` is the commit's block.
Message sync_message(std::string_view did, Timestamp time, std::string_view rev,
                     ByteView commit_block);

Message identity_message(std::string_view did, Timestamp time, std::string_view handle);

/// If `status` is empty, the message has none.
Message account_message(std::string_view did, Timestamp time, bool active, std::string_view status);

}  // namespace skua::sim

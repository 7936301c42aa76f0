#include "verify/commit_verifier.hpp"

#include <algorithm>

#include "repo/errc.hpp"
#include "repo/mst_tree.hpp"
#include "verify/errc.hpp"

namespace skua::verify {
namespace {

using event::OpClaim;
using event::Operation;

errc tree_error(const boost::system::error_code& error) {
  return error == repo::errc::mst_missing_node ? errc::tree_incomplete : errc::tree_malformed;
}

/// Checks that the tree after the commit has the value that the op states for its path.
Result<void> check_presence(const OpClaim& op, repo::MstTree& tree) {
  const auto value = tree.get(op.path);
  if (!value) return tree_error(value.error());
  if (*value != op.cid) return errc::op_not_in_tree;
  return {};
}

/// Undoes an op: removes a created record, or restores the previous value of an updated or deleted
/// record.
Result<void> undo(const OpClaim& op, repo::MstTree& tree) {
  if (op.operation == Operation::Create) {
    const auto removed = tree.remove(op.path);
    if (!removed) return tree_error(removed.error());
    return {};
  }
  const auto before = tree.set(op.path, *op.prev);
  if (!before) return tree_error(before.error());
  return {};
}

/// Whether the message contains all values that are needed to undo its operations. The
/// specification permits a message without them (`prevData` is optional, and so is `prev` of an
/// op).
bool can_be_undone(const event::RepoClaim& claim) {
  return claim.prev_data.has_value() &&
         std::all_of(claim.ops.begin(), claim.ops.end(), [](const OpClaim& op) {
           return op.operation == Operation::Create || op.prev.has_value();
         });
}

Result<void> check_signature(const repo::Commit& commit, const atproto::VerifyingKey& key) {
  if (!key.verify(repo::unsigned_commit_bytes(commit), commit.signature)) {
    return errc::wrong_signature;
  }
  return {};
}

Continuity continuity(const event::DecodedFrame& frame, const repo::Commit& commit,
                      const std::optional<atproto::RepositoryHead>& last) {
  if (!last) return Continuity::First;
  bool follows = false;
  if (frame.type == event::MessageType::Sync) {
    follows = commit.data == last->data;
  } else {
    const event::RepoClaim& claim = frame.claim;
    follows = claim.since == last->rev.to_string() && claim.prev_data == last->data &&
              can_be_undone(claim);
  }
  return follows ? Continuity::Next : Continuity::Broken;
}

}  // namespace

bool is_of_the_future(atproto::Tid rev, Timestamp message_time, Timestamp now) {
  const Timestamp present = std::max(now, std::min(message_time, now + kBelievedAhead));
  return rev.time() > present + kFuture;
}

Result<repo::Commit> CommitVerifier::admit(const event::DecodedFrame& frame,
                                           const RepositoryState& state, Timestamp now) {
  if (!state.active) return errc::inactive_account;
  if (state.head && *frame.rev <= state.head->rev) return errc::old_rev;
  if (is_of_the_future(*frame.rev, frame.time, now)) return errc::future_rev;
  if (frame.car.roots.empty()) return errc::commit_missing;
  const atproto::Cid& root = frame.car.roots.front();
  if (frame.claim.commit && *frame.claim.commit != root) return errc::wrong_root;
  const auto block = frame.car.blocks.find(root.digest);
  if (block == frame.car.blocks.end()) return errc::commit_missing;
  const auto commit = repo::decode_commit(block->second);
  if (!commit) return errc::commit_malformed;
  if (commit->version != 3) return errc::wrong_version;
  if (commit->did != frame.did) return errc::wrong_did;
  if (commit->rev != frame.rev) return errc::wrong_rev;
  return *commit;
}

Result<void> CommitVerifier::check_ops(const event::RepoClaim& claim, const repo::LoadedCar& car,
                                       const repo::Commit& commit) {
  if (claim.malformed_ops) return errc::malformed_op;
  if (claim.ops.empty()) {
    // A commit without operations is legal, and its blocks need not contain the tree.
    if (claim.prev_data && *claim.prev_data != commit.data) return errc::wrong_prev_data;
    return {};
  }

  paths_.clear();
  for (const OpClaim& op : claim.ops) paths_.push_back(op.path);
  std::sort(paths_.begin(), paths_.end());
  if (std::adjacent_find(paths_.begin(), paths_.end()) != paths_.end()) return errc::duplicate_path;

  auto tree = repo::MstTree::open(commit.data, car.blocks);
  if (!tree) return tree_error(tree.error());
  for (const OpClaim& op : claim.ops) {
    if (const auto present = check_presence(op, *tree); !present) return present.error();
  }
  if (!can_be_undone(claim)) return {};
  for (const OpClaim& op : claim.ops) {
    if (const auto undone = undo(op, *tree); !undone) return undone.error();
  }
  if (tree->root() != *claim.prev_data) return errc::wrong_prev_data;
  return {};
}

bool CommitVerifier::was_empty_before(const event::DecodedFrame& frame,
                                      const repo::Commit& commit) {
  static const atproto::Cid kEmpty = repo::MstTree().root();
  if (commit.data == kEmpty) return true;
  if (frame.type == event::MessageType::Sync) return false;
  const event::RepoClaim& claim = frame.claim;
  if (can_be_undone(claim)) return *claim.prev_data == kEmpty;
  // The message does not state the previous tree, so the tree itself must show whether the
  // repository was empty before.
  auto tree = repo::MstTree::open(commit.data, frame.car.blocks);
  if (!tree) return false;
  for (const OpClaim& op : claim.ops) {
    if (op.operation != Operation::Create || !undo(op, *tree)) return false;
  }
  return tree->root() == kEmpty;
}

Result<Accepted> CommitVerifier::verify(const event::DecodedFrame& frame,
                                        const repo::Commit& commit,
                                        const atproto::VerifyingKey& key,
                                        const RepositoryState& state) {
  if (const auto checked = check_signature(commit, key); !checked) return checked.error();
  if (level_ == Level::Full && frame.type == event::MessageType::Commit) {
    const auto checked = check_ops(frame.claim, frame.car, commit);
    if (!checked) return checked.error();
  }
  if (level_ == Level::Full && !state.head && was_empty_before(frame, commit)) {
    return Accepted{{*commit.rev, commit.data}, Continuity::Born};
  }
  return Accepted{{*commit.rev, commit.data}, continuity(frame, commit, state.head)};
}

}  // namespace skua::verify

#pragma once

#include <cstddef>

#include <boost/system/error_code.hpp>

namespace skua::verify {

/// The reasons for which a commit or #sync is ignored or refused
/// (atproto.com/specs/sync#firehose-validation-best-practices). Each reason has its own counter.
enum class errc {
  inactive_account = 1,  // ignored: the host of the account does not serve it
  old_rev,               // ignored: not newer than the known revision
  future_rev,            // more than 5 minutes ahead of our clock and of the frame's time
  wrong_root,            // the CAR's first root is not the message's commit
  commit_missing,        // the commit is not among the blocks
  commit_malformed,      // the block is not a commit object
  wrong_version,         // not version 3
  wrong_did,             // the commit names another account than the message
  wrong_rev,             // the commit has another revision than the message
  wrong_signature,       // not made with the account's key, or malformed
  malformed_op,          // an op without path, action or CID
  duplicate_path,        // two ops have the same path
  op_not_in_tree,        // the tree has another value for a path than the op
  tree_incomplete,       // the blocks lack a node that undoing the ops needs
  tree_malformed,        // a block is not a tree node, or the node has a wrong place
  wrong_prev_data,       // undoing the ops does not give the tree of `prevData`
  no_did_document,       // the account has no DID document, or one without a usable key
  parked_over_budget,    // the host is silent, and too many messages of the account waited
  over_share,            // too many messages of the account wait; a resync replaces the message
  label_of_other,        // a discovered labeler sent a label in the name of another account
  label_malformed,       // a discovered labeler sent a label or message that cannot be read
  foreign_account,       // the account is of a group that the database does not own
  already_indexed,       // a move of other groups set the cursor back, and this event is known
};

/// The number of reasons, which are numbered from 1 without a gap.
inline constexpr std::size_t kReasons = 23;

/// Returns the index of the reason in a CountFamily.
constexpr std::size_t index_of(errc reason) {
  return static_cast<std::size_t>(reason) - 1;
}

/// Returns false if the message is honest but old, of an inactive account or of a foreign account,
/// so that it is only ignored (inactive_account, old_rev, foreign_account, already_indexed).
constexpr bool is_refusal(errc reason) {
  return reason != errc::inactive_account && reason != errc::old_rev &&
         reason != errc::foreign_account && reason != errc::already_indexed;
}

/// Whether the signature of the commit is right, so that the repository has changed although the
/// message does not describe the change.
constexpr bool is_signed(errc reason) {
  return reason >= errc::malformed_op && reason <= errc::wrong_prev_data;
}

/// Returns the name of the reason in counters and in the output of `skua inspect`, such as
/// `wrong_signature`.
const char* name_of(errc reason);

boost::system::error_code make_error_code(errc e);

}  // namespace skua::verify

template <>
struct boost::system::is_error_code_enum<skua::verify::errc> : std::true_type {};

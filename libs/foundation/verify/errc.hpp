#pragma once

#include <cstddef>

#include <boost/system/error_code.hpp>

namespace skua::verify {

/// Why a commit or #sync is not believed
/// (atproto.com/specs/sync#firehose-validation-best-practices). Each has a counter of its own.
enum class errc {
  inactive_account = 1,  // ignored: its host does not serve it
  old_rev,               // ignored: not newer than what is known
  future_rev,            // more than 5 minutes ahead of our clock and the frame's
  wrong_root,            // the CAR's first root is not the message's commit
  commit_missing,        // the commit is not among the blocks
  commit_malformed,      // it is no commit object
  wrong_version,         // not version 3
  wrong_did,             // of another account than the message
  wrong_rev,             // of another revision than the message
  wrong_signature,       // not by the account's key, or of no valid form
  malformed_op,          // an op without path, action or CID
  duplicate_path,        // two ops of one path
  op_not_in_tree,        // the tree says something else of a path than its op
  tree_incomplete,       // a node that undoing the ops needs is not among the blocks
  tree_malformed,        // a node that is no tree node, or stands where it may not
  wrong_prev_data,       // the ops undone do not give the tree that `prevData` names
  no_did_document,       // the account has no DID document, or one without a usable key
  parked_over_budget,    // its account's host is silent, and too much of the account waited for it
  over_share,            // too many messages of its account wait; a resync replaces it
  label_of_other,        // a discovered labeler sent a label in the name of another account
  label_malformed,       // a discovered labeler sent a label or message that cannot be read
};

/// How many there are: they count from 1 without a gap.
inline constexpr std::size_t kReasons = 21;

/// Its index in a CountFamily.
constexpr std::size_t index_of(errc reason) {
  return static_cast<std::size_t>(reason) - 1;
}

/// False: the message is honest, but no news: it is ignored (inactive_account, old_rev).
constexpr bool is_refusal(errc reason) {
  return reason != errc::inactive_account && reason != errc::old_rev;
}

/// Whether the signature of the commit is right: the repository has changed, but the message does
/// not describe how.
constexpr bool is_signed(errc reason) {
  return reason >= errc::malformed_op && reason <= errc::wrong_prev_data;
}

/// Its name in counters and in the output of `skua inspect`: `wrong_signature`.
const char* name_of(errc reason);

boost::system::error_code make_error_code(errc e);

}  // namespace skua::verify

template <>
struct boost::system::is_error_code_enum<skua::verify::errc> : std::true_type {};

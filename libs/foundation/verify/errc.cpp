#include "verify/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::verify {
namespace {

struct Reason {
  errc error;
  const char* name;
  const char* message;
};

constexpr std::array<Reason, kReasons> kErrorTexts{{
    {errc::inactive_account, "inactive_account", "the account is not active"},
    {errc::old_rev, "old_rev", "the revision is not newer than the repository's last"},
    {errc::future_rev, "future_rev", "the revision lies more than 5 minutes ahead of the clock"},
    {errc::wrong_root, "wrong_root", "the first root of the blocks is not the message's commit"},
    {errc::commit_missing, "commit_missing", "the commit is not among the blocks"},
    {errc::commit_malformed, "commit_malformed", "the commit object is malformed"},
    {errc::wrong_version, "wrong_version", "the commit is not of version 3"},
    {errc::wrong_did, "wrong_did", "the commit is another account's"},
    {errc::wrong_rev, "wrong_rev", "the commit has another revision than the message"},
    {errc::wrong_signature, "wrong_signature",
     "the commit's signature is not one of the account's key"},
    {errc::malformed_op, "malformed_op", "an op lacks its path, its action or its CID"},
    {errc::duplicate_path, "duplicate_path", "two ops name the same path"},
    {errc::op_not_in_tree, "op_not_in_tree", "the repository's tree does not hold what an op says"},
    {errc::tree_incomplete, "tree_incomplete",
     "the blocks lack a node of the tree that the check of the ops needs"},
    {errc::tree_malformed, "tree_malformed", "a node of the repository's tree is malformed"},
    {errc::wrong_prev_data, "wrong_prev_data",
     "the ops, undone, do not lead back to the tree that prevData names"},
    {errc::no_did_document, "no_did_document",
     "the account has no DID document, or none with a usable key"},
    {errc::parked_over_budget, "parked_over_budget",
     "the account's host is silent, and too many messages waited for it"},
    {errc::over_share, "over_share", "too many messages of the account wait"},
    {errc::label_of_other, "label_of_other",
     "the labeler sent a label in the name of another account"},
    {errc::label_malformed, "label_malformed",
     "the labeler sent a label or a message that cannot be read"},
    {errc::foreign_account, "foreign_account",
     "the account is of a group that the database does not own"},
    {errc::already_indexed, "already_indexed",
     "the event was indexed before a move of groups set the cursor back"},
}};

}  // namespace

const char* name_of(errc reason) {
  return kErrorTexts.at(index_of(reason)).name;
}

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.verify");
  return {static_cast<int>(e), category};
}

}  // namespace skua::verify

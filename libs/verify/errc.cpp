#include "verify/errc.hpp"

#include <array>
#include <string>

namespace skua::verify {
namespace {

struct ReasonText {
  const char* name;
  const char* message;
};

constexpr std::array<ReasonText, kReasons> kReasonTexts{{
    {"inactive_account", "the account is not active"},
    {"old_rev", "the revision is not newer than the repository's last"},
    {"future_rev", "the revision lies more than 5 minutes ahead of the clock"},
    {"wrong_root", "the first root of the blocks is not the message's commit"},
    {"commit_missing", "the commit is not among the blocks"},
    {"commit_malformed", "the commit object is malformed"},
    {"wrong_version", "the commit is not of version 3"},
    {"wrong_did", "the commit is another account's"},
    {"wrong_rev", "the commit has another revision than the message"},
    {"wrong_signature", "the commit's signature is not one of the account's key"},
    {"malformed_op", "an op lacks its path, its action or its CID"},
    {"duplicate_path", "two ops name the same path"},
    {"op_not_in_tree", "the repository's tree does not hold what an op says"},
    {"tree_incomplete", "the blocks lack a node of the tree that the check of the ops needs"},
    {"tree_malformed", "a node of the repository's tree is malformed"},
    {"wrong_prev_data", "the ops, undone, do not lead back to the tree that prevData names"},
    {"no_did_document", "the account has no DID document, or none with a usable key"},
    {"parked_over_budget", "the account's host is silent, and too many messages waited for it"},
    {"over_share", "too many messages of the account wait"},
    {"label_of_other", "the labeler sent a label in the name of another account"},
    {"label_malformed", "the labeler sent a label or a message that cannot be read"},
}};

const ReasonText& text_of(int value) {
  return kReasonTexts.at(static_cast<std::size_t>(value) - 1);
}

class VerifyCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.verify"; }
  std::string message(int value) const override { return text_of(value).message; }
};

}  // namespace

const char* name_of(errc reason) {
  return text_of(static_cast<int>(reason)).name;
}

boost::system::error_code make_error_code(errc e) {
  static const VerifyCategory category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::verify

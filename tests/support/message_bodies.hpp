#pragma once

#include <string>
#include <utility>

#include "event/frame_builder.hpp"
#include "verify/signed_repository.hpp"

namespace skua::test {

/// Makes the bodies of messages of a stream, without `seq`. A base of test fixtures.
class MessageBodies {
 protected:
  /// The next commit of a repository, under another account's name if need be: it creates a post.
  json commit(SignedRepository& repository, const std::string& did = std::string(kDid)) {
    return commit(repository, repository, did);
  }
  /// The same, signed with the key of another repository.
  json commit(SignedRepository& repository, const SignedRepository& signer,
              const std::string& did = std::string(kDid)) {
    ++records_;
    auto parts = repository.change(
        {{event::Operation::Create, "app.bsky.feed.post/key" + std::to_string(records_), "text"}});
    parts.commit.did = did;
    parts.body["repo"] = did;
    return signer.sign(std::move(parts));
  }
  /// Of an #account. Empty `status`: it has none.
  static json account(bool active, const std::string& status = "",
                      const std::string& did = std::string(kDid)) {
    json body = {{"did", did}, {"time", kTime}, {"active", active}};
    if (!status.empty()) body["status"] = status;
    return body;
  }
  /// Of an #identity.
  static json identity(const std::string& handle = "claimed.example",
                       const std::string& did = std::string(kDid)) {
    return {{"did", did}, {"time", kTime}, {"handle", handle}};
  }

 private:
  int records_ = 0;
};

}  // namespace skua::test

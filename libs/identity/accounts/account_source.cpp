#include "accounts/account_source.hpp"

#include "documents/errc.hpp"

namespace skua::accounts {

DocumentAccounts::DocumentAccounts(const std::filesystem::path& file)
    : documents_(documents::DocumentFile::read(file)) {}

void DocumentAccounts::identity(const std::string& did, Freshness /*freshness*/,
                                IdentityDone done) {
  const documents::Account* account = documents_.find(did);
  if (account == nullptr) return done(documents::errc::did_not_found);
  done(*account);
}

void DocumentAccounts::status(const std::string& /*did*/, StatusDone done) {
  done(documents::errc::server_failed);
}

void DocumentAccounts::keys_near(const std::string& /*did*/, Timestamp /*time*/, KeyUse /*use*/,
                                 KeysDone done) {
  done(documents::errc::did_not_found);
}

std::string DocumentAccounts::failure_text(const std::string& /*did*/,
                                           const ErrorCode& error) const {
  return error.message();
}

}  // namespace skua::accounts

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "postgres/session.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// The active accounts with a record of app.bsky.labeler.service (`bsky.labelers`), by account
/// number: the accounts that the database knows longest come first, and no account can choose its
/// place. At most `most`. Throws SqlError.
std::vector<std::string> read_labeler_candidates(postgres::Session& session, std::size_t most);

/// Why the labeler of an account is not subscribed to.
enum class LeftOut : std::uint8_t {
  Unanswered,  // its DID document has not come yet
  NoService,   // the document names no labeler that can be used
  Insecure,    // the address is without TLS
  Named,       // the settings name the labeler: it is read as a source of its own
  Limit,       // there are as many labelers as the settings permit
  SiteLimit,   // there are as many labelers of its site as Skua permits
};
inline constexpr std::size_t kLeftOutReasons = 6;
const char* name_of(LeftOut reason);

/// An account with a labeler record, and the origin of its labeler, as its DID document says. Null:
/// not known yet; empty: none.
struct LabelerCandidate {
  std::string did;
  const std::string* origin = nullptr;
};

/// A labeler to subscribe to, and the accounts that name it: it may label in their names.
struct ChosenLabeler {
  transport::Endpoint endpoint;
  std::vector<std::string> dids;
};

struct LabelerChoice {
  std::vector<ChosenLabeler> labelers;
  /// Accounts, by LeftOut.
  std::array<std::size_t, kLeftOutReasons> left_out{};
};

struct LabelerLimits {
  std::size_t labelers = 100;
  /// Of one site (documents::site_of_origin): one domain can have any number of hosts.
  std::size_t of_one_site = 10;
  /// Addresses without TLS are accepted too.
  bool allow_insecure = false;
};

/// Chooses the labelers to subscribe to. Those in `current` come first, and keep their place; the
/// others follow in the order of `candidates`. `named` and `current` are names of sources. Pure.
LabelerChoice choose_labelers(const std::vector<LabelerCandidate>& candidates,
                              const std::set<std::string>& named,
                              const std::set<std::string>& current, const LabelerLimits& limits);

}  // namespace skua::sources

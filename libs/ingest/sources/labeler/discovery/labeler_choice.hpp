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

/// Returns the active accounts with a record of app.bsky.labeler.service (`bsky.labelers`), sorted
/// by account number. The accounts that the database has known longest come first, and no account
/// can choose its position. Returns at most `most` accounts. Throws SqlError.
std::vector<std::string> read_labeler_candidates(postgres::Session& session, std::size_t most);

/// The reason why the labeler of an account is not subscribed to.
enum class LeftOut : std::uint8_t {
  Unanswered,  // the DID document of the account has not come yet
  NoService,   // the document names no usable labeler
  Insecure,    // the address is without TLS
  Named,       // the settings name the labeler, so it is read as a source of its own
  Limit,       // there are as many labelers as the settings permit
  SiteLimit,   // there are as many labelers of its site as Skua permits
};
inline constexpr std::size_t kLeftOutReasons = 6;
const char* name_of(LeftOut reason);

/// An account with a labeler record, and the origin of its labeler according to its DID document.
/// The origin is null if it is not known yet, and empty if the account has no labeler.
struct LabelerCandidate {
  std::string did;
  const std::string* origin = nullptr;
};

/// A labeler to subscribe to, and the accounts whose documents name it. The labeler may send labels
/// of these accounts.
struct ChosenLabeler {
  transport::Endpoint endpoint;
  std::vector<std::string> dids;
};

struct LabelerChoice {
  std::vector<ChosenLabeler> labelers;
  /// The numbers of accounts that were left out, by LeftOut.
  std::array<std::size_t, kLeftOutReasons> left_out{};
};

struct LabelerLimits {
  std::size_t labelers = 100;
  /// The maximum number of labelers of one site (documents::site_of_origin). One domain can have
  /// any number of hosts.
  std::size_t of_one_site = 10;
  /// Whether addresses without TLS are accepted, too.
  bool allow_insecure = false;
};

/// Chooses the labelers to subscribe to. Labelers in `current` come first, and stay chosen. The
/// others follow in the order of `candidates`. `named` and `current` are names of sources. The
/// function is pure.
LabelerChoice choose_labelers(const std::vector<LabelerCandidate>& candidates,
                              const std::set<std::string>& named,
                              const std::set<std::string>& current, const LabelerLimits& limits);

}  // namespace skua::sources

#include "sources/labeler/discovery/labeler_choice.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "documents/host_status.hpp"
#include "sources/labeler/discovery/labeler_choice.sql.hpp"
#include "sources/labeler/labeler_source.hpp"

namespace skua::sources {

namespace {

/// A labeler, and the properties that the limits apply to.
struct Considered {
  ChosenLabeler labeler;
  std::string name;
  std::string site;
};

/// Sets `endpoint` to the address of an account's labeler, or returns the reason why it has none.
std::optional<LeftOut> read_endpoint(const LabelerCandidate& candidate, const LabelerLimits& limits,
                                     transport::Endpoint& endpoint) {
  if (candidate.origin == nullptr) return LeftOut::Unanswered;
  auto parsed = transport::parse_endpoint(*candidate.origin, kSubscribeLabelsPath);
  if (!parsed) return LeftOut::NoService;
  if (!parsed->tls && !limits.allow_insecure) return LeftOut::Insecure;
  endpoint = *std::move(parsed);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> read_labeler_candidates(postgres::Session& session, std::size_t most) {
  return session.query<std::string>(sql::labelers_read, most);
}

const char* name_of(LeftOut reason) {
  switch (reason) {
    case LeftOut::Unanswered:
      return "unanswered";
    case LeftOut::NoService:
      return "no_service";
    case LeftOut::Insecure:
      return "insecure";
    case LeftOut::Named:
      return "named";
    case LeftOut::Limit:
      return "limit";
    case LeftOut::SiteLimit:
      return "site_limit";
  }
  return "unknown";
}

LabelerChoice choose_labelers(const std::vector<LabelerCandidate>& candidates,
                              const std::set<std::string>& named,
                              const std::set<std::string>& current, const LabelerLimits& limits) {
  LabelerChoice choice;
  const auto leave_out = [&](LeftOut reason, std::size_t accounts = 1) {
    choice.left_out.at(static_cast<std::size_t>(reason)) += accounts;
  };
  std::vector<Considered> all;
  std::map<std::string, std::size_t> places;
  for (const LabelerCandidate& candidate : candidates) {
    transport::Endpoint endpoint;
    if (const auto reason = read_endpoint(candidate, limits, endpoint)) {
      leave_out(*reason);
      continue;
    }
    std::string name = LabelerSource(endpoint).name();
    if (named.contains(name)) {
      leave_out(LeftOut::Named);
      continue;
    }
    const auto [place, is_new] = places.try_emplace(name, all.size());
    if (is_new) {
      all.push_back({{std::move(endpoint), {}},
                     std::move(name),
                     documents::site_of_origin(*candidate.origin)});
    }
    all[place->second].labeler.dids.push_back(candidate.did);
  }
  std::stable_partition(all.begin(), all.end(), [&](const Considered& considered) {
    return current.contains(considered.name);
  });
  std::map<std::string, std::size_t> of_site;
  for (Considered& considered : all) {
    std::size_t& at_site = of_site[considered.site];
    if (at_site >= limits.of_one_site) {
      leave_out(LeftOut::SiteLimit, considered.labeler.dids.size());
    } else if (choice.labelers.size() >= limits.labelers) {
      leave_out(LeftOut::Limit, considered.labeler.dids.size());
    } else {
      ++at_site;
      choice.labelers.push_back(std::move(considered.labeler));
    }
  }
  return choice;
}

}  // namespace skua::sources

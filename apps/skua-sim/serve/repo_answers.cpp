#include "serve/repo_answers.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "repo/car.hpp"

namespace skua::sim {

namespace {

struct OpenCar {
  std::vector<atproto::Cid> roots;
  std::vector<repo::CarBlock> blocks;
};

/// Opens a CAR that this program has written.
OpenCar open(ByteView car) {
  auto reader = repo::CarReader::open(car);
  if (!reader) throw std::logic_error("our own CAR cannot be read: " + reader.error().message());
  OpenCar opened{reader->roots(), {}};
  auto block = reader->next();
  for (; block && *block; block = reader->next()) opened.blocks.push_back(**block);
  if (!block) throw std::logic_error("our own CAR cannot be read: " + block.error().message());
  return opened;
}

using Json = nlohmann::ordered_json;

void put_status(Json& body, AccountStatus status) {
  body["active"] = status == AccountStatus::active;
  if (status != AccountStatus::active) body["status"] = status_name(status);
}

}  // namespace

std::size_t count_blocks(ByteView car) {
  return open(car).blocks.size() - 1;
}

Bytes without_block(ByteView car, std::size_t index) {
  const auto opened = open(car);
  Bytes copy;
  repo::CarWriter writer(copy, opened.roots);
  for (std::size_t i = 0; i < opened.blocks.size(); ++i) {
    if (i != index + 1) writer.block(opened.blocks[i].cid, opened.blocks[i].data);
  }
  return copy;
}

Bytes with_bad_block(ByteView car, std::size_t index) {
  const auto opened = open(car);
  const auto block = opened.blocks.at(index + 1).data;
  Bytes copy(car.begin(), car.end());
  copy[static_cast<std::size_t>(block.data() - car.data()) + block.size() / 2] ^= 0xff;
  return copy;
}

Response repo_not_found(std::string_view did) {
  return error_response(400, "RepoNotFound", fmt::format("Could not find repo for DID: {}", did));
}

Response repo_error(std::string_view did, AccountStatus status) {
  switch (status) {
    case AccountStatus::takendown:
      return error_response(400, "RepoTakendown", fmt::format("Repo has been takendown: {}", did));
    case AccountStatus::suspended:
      return error_response(400, "RepoSuspended", fmt::format("Repo has been suspended: {}", did));
    case AccountStatus::deactivated:
      return error_response(400, "RepoDeactivated",
                            fmt::format("Repo has been deactivated: {}", did));
    case AccountStatus::deleted:
    case AccountStatus::active:
      break;
  }
  return repo_not_found(did);
}

Response repo_status(const Request& request, const StandingOf& standing_of) {
  const auto did = required(request, "did");
  if (!did) return did.error();
  const auto standing = standing_of(*did);
  if (!standing) return repo_not_found(*did);
  Json body = {{"did", *did}};
  put_status(body, standing->status);
  if (standing->status == AccountStatus::active && !standing->account.rev.empty()) {
    body["rev"] = standing->account.rev;
  }
  return json_response(body);
}

Response latest_commit(const Request& request, const StandingOf& standing_of) {
  const auto did = required(request, "did");
  if (!did) return did.error();
  const auto standing = standing_of(*did);
  if (!standing || standing->account.head.empty()) return repo_not_found(*did);
  if (standing->status != AccountStatus::active) return repo_error(*did, standing->status);
  return json_response({{"cid", standing->account.head}, {"rev", standing->account.rev}});
}

Response page_of_repos(const Request& request, const Network& network, std::int64_t largest_limit,
                       std::int64_t most, const RepoEntryOf& entry_of) {
  const auto limit = number_of(request, "limit", 500, 1, largest_limit);
  if (!limit) return limit.error();
  const auto size = static_cast<std::size_t>(std::min(*limit, most));
  const auto cursor = request.query.find("cursor");
  const auto& dids = network.dids();
  auto did =
      cursor == request.query.end() ? dids.begin() : std::ranges::upper_bound(dids, cursor->second);
  Json body = Json::object();
  Json repos = Json::array();
  for (; did != dids.end(); ++did) {
    Json entry = entry_of(*did);
    if (entry.is_null()) continue;
    // A cursor is only given if an entry follows the page.
    if (repos.size() == size) {
      body["cursor"] = repos.back()["did"];
      break;
    }
    repos.push_back(std::move(entry));
  }
  body["repos"] = std::move(repos);
  return json_response(body);
}

Response list_repos(const Request& request, const Network& network, const StandingOf& standing_of,
                    std::int64_t most) {
  return page_of_repos(request, network, 1000, most, [&](const std::string& did) {
    const auto standing = standing_of(did);
    if (!standing || standing->account.head.empty()) return Json();
    Json repo = {{"did", did}, {"head", standing->account.head}, {"rev", standing->account.rev}};
    put_status(repo, standing->status);
    return repo;
  });
}

}  // namespace skua::sim

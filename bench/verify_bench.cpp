// The cost of verification: verified commits per second on one core; see bench/README.md.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "arguments.hpp"
#include "atproto/signing.hpp"
#include "event/frame_decoder.hpp"
#include "median.hpp"
#include "repo/commit.hpp"
#include "report.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/known_repositories.hpp"
#include "world/network.hpp"

namespace {

using namespace skua;

constexpr std::string_view kHelp =
    R"(verify_bench [--quick] [COMMITS]

Verifies commits of the simulated network on one core, and prints commits per second; bench/README.md
explains the results. --quick measures 500 commits of fewer accounts.

Example: build/release/bin/verify_bench --quick)";

/// The size of the measurement.
struct Size {
  std::size_t commits;
  std::size_t accounts = 2'000;
  std::size_t records = 2'000'000;
  int rounds = 7;
  std::size_t known_repositories = 1'000'000;
};

constexpr Size kQuick{
    .commits = 500, .accounts = 50, .records = 5'000, .rounds = 3, .known_repositories = 100'000};

/// A commit of the simulated network, with the data for a check of its signature only.
struct Commit {
  Bytes frame;
  const atproto::VerifyingKey* key = nullptr;
  Bytes unsigned_bytes;
  Bytes signature;
};

struct Work {
  std::map<std::string, atproto::VerifyingKey> keys;  // parsed before the measurement
  std::vector<Commit> commits;
  Timestamp end;
};

atproto::VerifyingKey key_of(const sim::Network& network, const std::string& did) {
  const auto document = network.did_document(did);
  for (const auto& method : document.at("verificationMethod")) {
    const auto text = method.at("publicKeyMultibase").get<std::string>();
    if (const auto key = atproto::Multikey::parse(text)) {
      return atproto::VerifyingKey::from_multikey(*key).value();
    }
  }
  throw std::runtime_error(did + " has no key");
}

Work simulate(const Size& size) {
  Work work;
  sim::NetworkSettings settings;
  settings.accounts = size.accounts;
  settings.records = size.records;
  settings.keep_records = false;
  settings.oddities = 0;
  Timestamp now{std::chrono::seconds(1'750'000'000)};
  std::vector<Bytes> frames;
  sim::Network network(
      settings, {"https://a.test", "https://b.test", "https://c.test"}, now,
      [&](std::size_t, const std::shared_ptr<const sim::Message>& message) {
        frames.push_back(sim::numbered(*message, static_cast<std::int64_t>(frames.size()) + 1));
      });
  while (frames.size() < size.commits) {
    now += std::chrono::milliseconds(1);
    network.step(now);
  }
  work.end = now;
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  for (Bytes& frame : frames) {
    if (!decoder.decode(frame, decoded) || decoded.type != event::MessageType::Commit) continue;
    auto place = work.keys.find(decoded.did);
    if (place == work.keys.end()) {
      place = work.keys.emplace(decoded.did, key_of(network, decoded.did)).first;
    }
    const auto commit = verify::CommitVerifier::admit(decoded, {}, now).value();
    work.commits.push_back({std::move(frame), &place->second, repo::unsigned_commit_bytes(commit),
                            Bytes(commit.signature.begin(), commit.signature.end())});
  }
  return work;
}

/// Commits per second of CPU time.
template <class F>
double measure(const Work& work, F&& pass) {
  const std::clock_t start = std::clock();
  pass();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return static_cast<double>(work.commits.size()) / seconds;
}

/// Decodes everything, and verifies at this level. Returns the number of accepted commits.
std::size_t verify_all(const Work& work, verify::Level level) {
  verify::CommitVerifier verifier(level);
  event::FrameDecoder decoder;
  std::map<std::string, verify::RepositoryState, std::less<>> states;
  std::size_t accepted = 0;
  for (const Commit& commit : work.commits) {
    event::DecodedFrame decoded;
    if (!decoder.decode(commit.frame, decoded)) continue;
    verify::RepositoryState& state = states[decoded.did];
    const auto object = verify::CommitVerifier::admit(decoded, state, work.end);
    if (!object) continue;
    const auto verdict = verifier.verify(decoded, *object, *commit.key, state);
    if (!verdict || verdict->continuity == verify::Continuity::Broken) continue;
    state.head = verdict->head;
    ++accepted;
  }
  return accepted;
}

/// The resident memory of the process in MB (proc(5), statm).
double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// The memory of so many known repositories: of the map itself, and what remains of its growth.
void print_memory(std::size_t repositories, bench::Report& report) {
  const double before = resident_megabytes();
  // Recent use of all entries is the worst case: both generations are full.
  verify::KnownRepositories known(repositories);
  verify::KnownRepository repository;
  repository.set_key(atproto::Multikey{}, Timestamp{});
  for (std::size_t i = 0; i < repositories; ++i) {
    known.put(verify::DidHash::of("did:plc:" + std::to_string(i)), repository);
  }
  fmt::print("memory         {:>8} MB for {} known repositories\n",
             report.figure("memory", resident_megabytes() - before), known.size());
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = bench::Arguments::parse(argc, argv, kHelp);
  Size size = arguments.quick ? kQuick : Size{.commits = 20'000};
  size.commits = arguments.number(size.commits, size.commits);
  const Work work = simulate(size);
  std::size_t bytes = 0;
  for (const Commit& commit : work.commits) bytes += commit.frame.size();
  fmt::print("{} commits of {} accounts, {:.0f} bytes each\n", work.commits.size(),
             work.keys.size(),
             static_cast<double>(bytes) / static_cast<double>(work.commits.size()));

  std::size_t bad = 0;
  std::vector<double> signature_only;
  std::vector<double> decode_only;
  std::vector<double> full;
  std::vector<double> ratios;
  for (int round = 0; round < size.rounds; ++round) {
    signature_only.push_back(measure(work, [&] {
      for (const Commit& commit : work.commits) {
        if (!commit.key->verify(commit.unsigned_bytes, commit.signature)) ++bad;
      }
    }));
    decode_only.push_back(measure(work, [&] {
      event::FrameDecoder decoder;
      for (const Commit& commit : work.commits) {
        event::DecodedFrame decoded;
        if (!decoder.decode(commit.frame, decoded)) ++bad;
      }
    }));
    full.push_back(
        measure(work, [&] { bad += work.commits.size() - verify_all(work, verify::Level::Full); }));
    ratios.push_back(full.back() / signature_only.back());
  }
  bench::Report report{"signature only", "decode only", "full", "ratio", "memory"};
  fmt::print("signature only {:>8} commits/s  (the limit, median of {} rounds)\n",
             report.figure("signature only", bench::median(signature_only)), size.rounds);
  fmt::print("decode only    {:>8} commits/s  (all hashes, records decoded)\n",
             report.figure("decode only", bench::median(decode_only)));
  fmt::print("full           {:>8} commits/s  (decode, signature, tree, inversion, chain)\n",
             report.figure("full", bench::median(full)));
  fmt::print("ratio          {:>8}\n", report.figure("ratio", bench::median(ratios), 2));
  print_memory(size.known_repositories, report);
  if (bad != 0) report.fail(fmt::format("{} were refused", bad));
  return report.finish();
}

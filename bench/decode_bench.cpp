// Decodes frames to UnresolvedEvents with all hashes, single thread; see bench/README.md.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "atproto/account_group.hpp"
#include "atproto/sha256.hpp"
#include "base/metric.hpp"
#include "event/frame_decoder.hpp"
#include "event/json_event.hpp"
#include "median.hpp"
#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"
#include "report.hpp"

namespace {

using namespace skua;

constexpr std::string_view kHelp =
    R"(decode_bench [--quick] [CAPTURE]

Decodes frames to events on one thread, and prints frames per second; bench/README.md explains the
results. --quick measures three short rounds.

Example: build/release/bin/decode_bench --quick)";

struct Rounds {
  int count = 9;
  double seconds = 0.4;
};
/// Arrival to queue, in the queue, transaction, arrival to commit. A transaction has several
/// messages: live, fewer are counted for each message.
constexpr std::size_t kStages = 4;

std::vector<Bytes> read_capture(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const Bytes all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<Bytes> frames;
  for (std::size_t at = 0; at + 4 <= all.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, all.data() + at, 4);
    at += 4;
    if (size > all.size() - at) break;
    frames.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                        all.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
  }
  return frames;
}

/// A like in a commit with nine other blocks of about 450 bytes, the averages of the network.
Bytes synthetic_frame(std::mt19937& random) {
  const nlohmann::json like = {
      {"$type", "app.bsky.feed.like"},
      {"createdAt", "2026-07-04T14:38:08.999Z"},
      {"subject",
       {{"cid", "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u"},
        {"uri", "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jquh3dxgi52o"}}}};
  const Bytes record = *event::json_to_dag_cbor(like);
  const atproto::Cid cid = atproto::Cid::of(record);
  Bytes car;
  repo::CarWriter writer(car, std::vector{cid});
  writer.block(record);
  for (int i = 0; i < 9; ++i) {
    Bytes block(450);
    for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
    writer.block(block);
  }

  Bytes frame;
  repo::CborWriter out(frame);
  out.map(2);
  out.string("t");
  out.string("#commit");
  out.string("op");
  out.integer(1);
  out.map(12);
  out.string("ops");
  out.list(1);
  out.map(3);
  out.string("cid");
  out.link(cid);
  out.string("path");
  out.string("app.bsky.feed.like/3jquh3dxgi52o");
  out.string("action");
  out.string("create");
  out.string("rev");
  out.string("3jquh3dxgi52o");
  out.string("seq");
  out.integer(1);
  out.string("repo");
  out.string("did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  out.string("time");
  out.string("2026-07-04T14:38:08.085434Z");
  out.string("blobs");
  out.list(0);
  out.string("since");
  out.null();
  out.string("blocks");
  out.bytes(car);
  out.string("commit");
  out.link(cid);
  out.string("rebase");
  out.boolean(false);
  out.string("tooBig");
  out.boolean(false);
  out.string("prevData");
  out.link(cid);
  return frame;
}

/// The blocks of all frames. Views into them.
std::vector<ByteView> blocks_of(const std::vector<Bytes>& frames) {
  std::vector<ByteView> blocks;
  for (const Bytes& frame : frames) {
    atproto::Document document;
    const auto header = repo::read_dag_cbor_prefix(frame, document);
    if (!header || !repo::read_dag_cbor(ByteView(frame).subspan(*header), document)) continue;
    const auto car = document.root().find("blocks");
    if (!car || !car->is_bytes()) continue;
    auto reader = repo::CarReader::open(car->bytes());
    if (!reader) continue;
    for (auto block = reader->next(); block && *block; block = reader->next()) {
      blocks.push_back((*block)->data);
    }
  }
  return blocks;
}

/// Frames per second of one `pass` over `frames` frames, in one round of so many seconds. It
/// measures CPU time, so that other activity of the machine has little effect.
template <class F>
double measure(std::size_t frames, double least_seconds, F&& pass) {
  const std::clock_t start = std::clock();
  std::size_t done = 0;
  double seconds = 0;
  do {
    pass();
    done += frames;
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  } while (seconds < least_seconds);
  return static_cast<double>(done) / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = bench::Arguments::parse(argc, argv, kHelp);
  const Rounds rounds = arguments.quick ? Rounds{3, 0.05} : Rounds{};
  const std::filesystem::path path = arguments.value.empty()
                                         ? "../shared/data/frames/bsky-network-2026-07-04.frames"
                                         : arguments.value;
  std::vector<Bytes> frames;
  if (std::filesystem::exists(path)) {
    frames = read_capture(path);
  } else {
    std::mt19937 random(1);
    for (int i = 0; i < 100; ++i) frames.push_back(synthetic_frame(random));
  }
  if (frames.empty()) {
    fmt::print(stderr, "{}: no frames\n", path.string());
    return 1;
  }
  const std::vector<ByteView> blocks = blocks_of(frames);
  std::size_t bytes = 0;
  for (const Bytes& frame : frames) bytes += frame.size();
  fmt::print("{} frames of {}, {:.0f} bytes and {:.1f} blocks each\n", frames.size(),
             std::filesystem::exists(path) ? path.filename().string() : "synthetic data",
             static_cast<double>(bytes) / static_cast<double>(frames.size()),
             static_cast<double>(blocks.size()) / static_cast<double>(frames.size()));

  unsigned sink = 0;
  std::size_t events = 0;
  std::size_t bad = 0;
  event::FrameDecoder decoder;
  std::vector<double> hashed;
  std::vector<double> peeked;
  std::vector<double> left_out;
  const auto owned = atproto::GroupSet::parse("0").value();
  std::vector<double> decoded;
  std::vector<double> measured;
  std::vector<double> ratios;
  std::vector<double> stage_ratios;
  std::array<LatencyHistogram, kStages> stages;
  const auto decode = [&](const Bytes& frame) {
    // In the pipeline events leave their decoder, so each frame needs new ones here too.
    event::DecodedFrame out;
    if (decoder.decode(frame, out)) {
      events += out.events.size();
    } else {
      ++bad;
    }
  };
  for (int round = 0; round < rounds.count; ++round) {
    hashed.push_back(measure(frames.size(), rounds.seconds, [&] {
      for (const ByteView block : blocks) sink += atproto::sha256(block)[0];
    }));
    decoded.push_back(measure(frames.size(), rounds.seconds, [&] {
      for (const Bytes& frame : frames) decode(frame);
    }));
    measured.push_back(measure(frames.size(), rounds.seconds, [&] {
      for (const Bytes& frame : frames) {
        const auto arrived_at = std::chrono::steady_clock::now();
        decode(frame);
        for (LatencyHistogram& stage : stages) {
          stage.add(std::chrono::duration_cast<LatencyHistogram::Duration>(
              std::chrono::steady_clock::now() - arrived_at));
        }
      }
    }));
    peeked.push_back(measure(frames.size(), rounds.seconds, [&] {
      for (const Bytes& frame : frames) {
        if (const auto peek = event::peek_frame(frame)) sink += static_cast<unsigned>(peek->seq);
      }
    }));
    left_out.push_back(measure(frames.size(), rounds.seconds, [&] {
      for (const Bytes& frame : frames) {
        if (const auto peek = event::peek_frame(frame))
          sink += owned.has_account(peek->did) ? 1 : 3;
      }
    }));
    ratios.push_back(decoded.back() / hashed.back());
    stage_ratios.push_back(measured.back() / decoded.back());
  }
  bench::Report report{"hashes only",          "full decode", "ratio",         "with stages",
                       "ratio to full decode", "peek",        "peek and group"};
  fmt::print("hashes only {:>10} frames/s  (the limit, median of {} rounds)\n",
             report.figure("hashes only", bench::median(hashed)), rounds.count);
  fmt::print("full decode {:>10} frames/s\n", report.figure("full decode", bench::median(decoded)));
  fmt::print("ratio       {:>10}\n", report.figure("ratio", bench::median(ratios), 2));
  fmt::print("with stages {:>10} frames/s  (ratio to full decode {})\n",
             report.figure("with stages", bench::median(measured)),
             report.figure("ratio to full decode", bench::median(stage_ratios), 3));
  fmt::print("peek        {:>10} frames/s\n", report.figure("peek", bench::median(peeked)));
  fmt::print("with group  {:>10} frames/s  (peek, and the group of the account)\n",
             report.figure("peek and group", bench::median(left_out)));
  if (bad > 0) report.fail(fmt::format("{} frames did not decode", bad));
  // Uses both results, so that the compiler cannot remove either loop.
  if (events == 0 || sink == 1) report.fail("the frames have no events");
  return report.finish();
}

// Decodes frames to UnresolvedEvents with all hashes, single thread; see bench/README.md.
#include <algorithm>
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

#include "atproto/sha256.hpp"
#include "base/latency_histogram.hpp"
#include "event/frame_decoder.hpp"
#include "event/json_record.hpp"
#include "repo/car_reader.hpp"
#include "repo/car_writer.hpp"
#include "repo/dag_cbor_reader.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace {

using namespace skua;

constexpr int kRounds = 9;
constexpr double kRoundSeconds = 0.4;
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

/// Frames per second of one `pass` over `frames` frames, in one round. It measures CPU time, so
/// that other activity of the machine has little effect.
template <class F>
double measure(std::size_t frames, F&& pass) {
  const std::clock_t start = std::clock();
  std::size_t done = 0;
  double seconds = 0;
  do {
    pass();
    done += frames;
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  } while (seconds < kRoundSeconds);
  return static_cast<double>(done) / seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path path =
      argc > 1 ? argv[1] : "../shared/data/frames/bsky-network-2026-07-04.frames";
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
  for (int round = 0; round < kRounds; ++round) {
    hashed.push_back(measure(frames.size(), [&] {
      for (const ByteView block : blocks) sink += atproto::sha256(block)[0];
    }));
    decoded.push_back(measure(frames.size(), [&] {
      for (const Bytes& frame : frames) decode(frame);
    }));
    measured.push_back(measure(frames.size(), [&] {
      for (const Bytes& frame : frames) {
        const auto arrived_at = std::chrono::steady_clock::now();
        decode(frame);
        for (LatencyHistogram& stage : stages) {
          stage.add(std::chrono::duration_cast<LatencyHistogram::Duration>(
              std::chrono::steady_clock::now() - arrived_at));
        }
      }
    }));
    peeked.push_back(measure(frames.size(), [&] {
      for (const Bytes& frame : frames) {
        if (const auto peek = event::peek_frame(frame)) sink += static_cast<unsigned>(peek->seq);
      }
    }));
    ratios.push_back(decoded.back() / hashed.back());
    stage_ratios.push_back(measured.back() / decoded.back());
  }
  fmt::print("hashes only {:>10.0f} frames/s  (the limit, median of {} rounds)\n", median(hashed),
             kRounds);
  fmt::print("full decode {:>10.0f} frames/s\n", median(decoded));
  fmt::print("ratio       {:>10.2f}\n", median(ratios));
  fmt::print("with stages {:>10.0f} frames/s  (ratio to full decode {:.3f})\n", median(measured),
             median(stage_ratios));
  fmt::print("peek        {:>10.0f} frames/s\n", median(peeked));
  if (bad > 0) fmt::print("{} frames did not decode\n", bad);
  // Uses both results, so that the compiler cannot remove either loop.
  return bad == 0 && events > 0 && sink != 1 ? 0 : 1;
}

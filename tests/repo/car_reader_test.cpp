#include <array>

#include <gtest/gtest.h>

#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"

namespace skua::repo::car_reader_test {
namespace {

using atproto::Cid;

const Bytes kFirst = {0x81, 0x01};
const Bytes kSecond = {0x81, 0x02};

Bytes sample_car() {
  Bytes car;
  const std::array roots = {Cid::of(kFirst)};
  CarWriter writer(car, roots);
  writer.block(kFirst);
  writer.block(kSecond);
  return car;
}

/// A CAR that has only a header, whatever `write` puts into it.
template <class F>
Bytes header_car(F&& write) {
  Bytes header;
  CborWriter writer(header);
  write(writer);
  Bytes car = {static_cast<std::uint8_t>(header.size())};
  car.insert(car.end(), header.begin(), header.end());
  return car;
}

void expect_error(const Bytes& car, errc error) {
  LoadedCar loaded;
  const auto read = load_car(car, loaded);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), error) << read.error().message();
}

TEST(CarReader, gives_blocks_in_order) {
  const Bytes car = sample_car();
  auto reader = CarReader::open(car);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->roots(), std::vector<Cid>{Cid::of(kFirst)});
  for (const Bytes& expected : {kFirst, kSecond}) {
    const auto block = reader->next();
    ASSERT_TRUE(block && *block);
    EXPECT_EQ((*block)->cid, Cid::of(expected));
    EXPECT_EQ(Bytes((*block)->data.begin(), (*block)->data.end()), expected);
    EXPECT_GE((*block)->data.data(), car.data());
  }
  const auto end = reader->next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST(LoadCar, finds_blocks_by_digest) {
  const Bytes car = sample_car();
  LoadedCar loaded;
  ASSERT_TRUE(load_car(car, loaded));
  EXPECT_EQ(loaded.roots.size(), 1U);
  EXPECT_EQ(loaded.blocks.size(), 2U);
  EXPECT_EQ(loaded.duplicates, 0U);
  EXPECT_EQ(loaded.blocks.at(Cid::of(kSecond).digest).size(), kSecond.size());
}

TEST(LoadCar, counts_duplicates) {
  Bytes car = sample_car();
  CarWriter(car, {});  // a second header is a section, and no block
  expect_error(car, errc::car_bad_cid);

  Bytes doubled;
  CarWriter writer(doubled, {});
  for (int i = 0; i < 3; ++i) writer.block(kFirst);
  LoadedCar loaded;
  ASSERT_TRUE(load_car(doubled, loaded));
  EXPECT_EQ(loaded.blocks.size(), 1U);
  EXPECT_EQ(loaded.duplicates, 2U);
}

TEST(LoadCar, forgets_the_last_car) {
  const Bytes car = sample_car();
  Bytes other;
  CarWriter(other, {}).block(Cid::of(as_bytes("x"), Cid::kRaw), as_bytes("x"));
  LoadedCar loaded;
  ASSERT_TRUE(load_car(car, loaded));
  ASSERT_TRUE(load_car(other, loaded));
  EXPECT_TRUE(loaded.roots.empty());
  EXPECT_EQ(loaded.blocks.size(), 1U);
}

TEST(LoadCar, shrinks_after_a_huge_car) {
  Bytes huge;
  CarWriter writer(huge, {});
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    Bytes block;
    CborWriter(block).integer(i);
    writer.block(block);
  }
  const Bytes car = sample_car();
  LoadedCar loaded;
  ASSERT_TRUE(load_car(huge, loaded));
  EXPECT_EQ(loaded.blocks.size(), 20'000U);
  ASSERT_TRUE(load_car(car, loaded));
  EXPECT_EQ(loaded.blocks.size(), 2U);
  EXPECT_LT(loaded.blocks.bucket_count(), 1000U);
}

TEST(LoadCar, refuses_a_block_that_is_not_its_cid) {
  Bytes car = sample_car();
  car.back() ^= 1;
  expect_error(car, errc::car_hash_mismatch);
}

TEST(LoadCar, refuses_every_cut) {
  const Bytes car = sample_car();
  LoadedCar loaded;
  std::size_t whole = 0;
  for (std::size_t length = 0; length < car.size(); ++length) {
    const Bytes cut(car.begin(), car.begin() + static_cast<std::ptrdiff_t>(length));
    const auto read = load_car(cut, loaded);
    if (read) {
      ++whole;  // at the end of a section a cut cannot be seen
    } else {
      EXPECT_EQ(read.error(), errc::car_truncated) << length;
    }
  }
  EXPECT_EQ(whole, 2U);
}

TEST(LoadCar, refuses_every_changed_byte_of_blocks) {
  const Bytes car = sample_car();
  const std::size_t header = 1U + car[0];
  const std::size_t second = header + 1 + Cid::kBinarySize + kFirst.size();
  LoadedCar loaded;
  for (std::size_t at = header; at < car.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes changed = car;
      changed[at] = static_cast<std::uint8_t>(value);
      if (changed == car) continue;
      const auto read = load_car(changed, loaded);
      // Of a block's CID only the codec is not covered by the hash. A CID of another form is that
      // of a block that nothing can refer to.
      const bool is_codec = value == Cid::kRaw && (at == header + 2 || at == second + 2);
      EXPECT_TRUE(read || !is_codec) << at << ' ' << value;
      EXPECT_TRUE(is_codec || !read || loaded.blocks.size() < 2) << at << ' ' << value;
    }
  }
}

TEST(LoadCar, no_changed_byte_of_the_header_crashes) {
  const Bytes car = sample_car();
  LoadedCar loaded;
  std::size_t refused = 0;
  for (std::size_t at = 0; at <= car[0]; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes changed = car;
      changed[at] = static_cast<std::uint8_t>(value);
      if (!load_car(changed, loaded)) ++refused;
    }
  }
  EXPECT_GT(refused, 5000U);
}

TEST(LoadCar, refuses_bad_lengths) {
  Bytes zero = sample_car();
  zero.push_back(0);
  expect_error(zero, errc::car_bad_length);
  expect_error({0}, errc::car_bad_length);
  expect_error({}, errc::car_truncated);
  expect_error({0x80}, errc::car_truncated);
  expect_error({0x81, 0x00}, errc::car_bad_length);  // not the shortest form
  expect_error(Bytes(20, 0xff), errc::car_bad_length);
  expect_error({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00}, errc::car_truncated);
}

TEST(LoadCar, refuses_other_headers) {
  expect_error(header_car([](CborWriter& w) { w.list(0); }), errc::car_bad_header);
  expect_error(header_car([](CborWriter& w) { w.map(0); }), errc::car_bad_header);
  expect_error(header_car([](CborWriter& w) {
                 w.map(1);
                 w.string("version");
                 w.integer(1);
               }),
               errc::car_bad_header);
  expect_error(header_car([](CborWriter& w) {
                 w.map(2);
                 w.string("roots");
                 w.list(1);
                 w.string("not a link");
                 w.string("version");
                 w.integer(1);
               }),
               errc::car_bad_header);
  expect_error(header_car([](CborWriter& w) {
                 w.map(2);
                 w.string("roots");
                 w.list(1);
                 w.link(Cid::of({}, 0x70));
                 w.string("version");
                 w.integer(1);
               }),
               errc::car_bad_cid);
}

TEST(LoadCar, names_car_version_two) {
  const Bytes car = header_car([](CborWriter& w) {
    w.map(1);
    w.string("version");
    w.integer(2);
  });
  expect_error(car, errc::car_bad_version);
  LoadedCar loaded;
  EXPECT_NE(load_car(car, loaded).error().message().find("CAR v2"), std::string::npos);
}

/// Appends a section with this CID, given as bytes.
void add_section(Bytes& car, const Bytes& cid, ByteView data) {
  ASSERT_LT(cid.size() + data.size(), 128U);
  car.push_back(static_cast<std::uint8_t>(cid.size() + data.size()));
  car.insert(car.end(), cid.begin(), cid.end());
  car.insert(car.end(), data.begin(), data.end());
}

TEST(LoadCar, skips_blocks_that_a_repository_cannot_refer_to) {
  Bytes car;
  CarWriter writer(car, {});
  writer.block(Cid::of(kFirst, 0x70), kFirst);  // DAG-PB
  Bytes sha512 = {0x01, 0x71, 0x13, 64};
  sha512.resize(4 + 64, 7);
  add_section(car, sha512, kFirst);
  Bytes version0 = {0x12, 0x20};
  version0.resize(2 + 32, 7);
  add_section(car, version0, kFirst);
  add_section(car, {0x01, 0x71, 0x00, 0x00}, kFirst);  // identity
  const std::size_t before = car.size();
  writer.block(kSecond);
  Bytes long_block(300, 5);
  writer.block(long_block);
  LoadedCar loaded;
  ASSERT_TRUE(load_car(car, loaded));
  EXPECT_EQ(loaded.blocks.size(), 2U);
  EXPECT_TRUE(loaded.blocks.contains(Cid::of(kSecond).digest));
  auto reader = CarReader::open(car);
  auto block = reader->next();
  ASSERT_TRUE(block && *block);
  EXPECT_EQ((*block)->cid, Cid::of(kSecond));
  EXPECT_EQ(section_of(car, **block), before);
  EXPECT_EQ(car_block_at(car, section_of(car, **block)).cid, Cid::of(kSecond));
  block = reader->next();
  EXPECT_EQ(car_block_at(car, section_of(car, **block)).data.size(), 300U);
  block = reader->next();
  EXPECT_TRUE(block && !*block);
}

TEST(LoadCar, refuses_a_section_that_is_no_block) {
  Bytes cut;
  CarWriter(cut, {});
  cut.insert(cut.end(), {6, 1, 0x71, 0x12, 0x20, 1, 2});
  expect_error(cut, errc::car_bad_cid);

  Bytes short_section;
  CarWriter(short_section, {});
  short_section.insert(short_section.end(), {3, 1, 2, 3});
  expect_error(short_section, errc::car_bad_cid);
}

}  // namespace
}  // namespace skua::repo::car_reader_test

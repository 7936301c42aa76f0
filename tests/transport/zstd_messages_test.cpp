#include "transport/zstd_messages.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <zdict.h>
#include <zstd.h>

#include <gtest/gtest.h>

#include "transport/errc.hpp"

namespace skua::transport::zstd_messages_test {
namespace {

/// The id of Jetstream's own.
constexpr unsigned kId = 1'612'007'021;

Bytes event(int number) {
  const auto text = R"({"did":"did:plc:)" + std::to_string(number * 7919) +
                    R"(","time_us":1779719009132431,"kind":"commit","commit":{"rev":"3kb3)" +
                    std::to_string(number) +
                    R"(","operation":"create","collection":"app.bsky.feed.like","rkey":"3kb4"}})";
  return {text.begin(), text.end()};
}

/// A dictionary made from such events.
Bytes make_dictionary(unsigned id) {
  Bytes samples;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 2000; ++i) {
    const auto sample = event(i);
    samples.insert(samples.end(), sample.begin(), sample.end());
    sizes.push_back(sample.size());
  }
  constexpr std::size_t kContent = 4000;
  Bytes dictionary(kContent + 8192);
  ZDICT_params_t parameters{};
  parameters.dictID = id;
  const auto size = ZDICT_finalizeDictionary(dictionary.data(), dictionary.size(), samples.data(),
                                             kContent, samples.data(), sizes.data(),
                                             static_cast<unsigned>(sizes.size()), parameters);
  EXPECT_FALSE(ZDICT_isError(size)) << ZDICT_getErrorName(size);
  dictionary.resize(size);
  return dictionary;
}

struct Form {
  bool says_length = true;
  bool has_checksum = false;
};

Bytes compressed(ByteView plain, ByteView dictionary, Form form = {}) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, form.says_length ? 1 : 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, form.has_checksum ? 1 : 0);
  if (!dictionary.empty()) {
    ZSTD_CCtx_loadDictionary(context.get(), dictionary.data(), dictionary.size());
  }
  Bytes out(ZSTD_compressBound(plain.size()));
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), plain.data(), plain.size()));
  return out;
}

class Zstd : public ::testing::Test {
 protected:
  const Bytes bytes_ = make_dictionary(kId);
  const ZstdDictionary dictionary_{bytes_};
  ZstdMessages messages_{&dictionary_};
  Bytes out_;
};

TEST_F(Zstd, knows_its_id) {
  EXPECT_EQ(dictionary_.id(), kId);
}

class ZstdForms : public Zstd, public ::testing::WithParamInterface<Form> {};

TEST_P(ZstdForms, are_read_with_and_without_a_dictionary) {
  for (const std::size_t size : {0U, 1U, 500U, 16'384U, 16'385U, 300'000U}) {
    Bytes plain;
    for (int i = 0; plain.size() < size; ++i) {
      const auto more = event(i);
      plain.insert(plain.end(), more.begin(), more.end());
    }
    plain.resize(size);
    for (const auto& dictionary : {bytes_, Bytes()}) {
      ASSERT_FALSE(messages_.decompress(compressed(plain, dictionary, GetParam()), out_));
      EXPECT_EQ(out_, plain);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, ZstdForms,
                         ::testing::Values(Form{true, false}, Form{true, true}, Form{false, false},
                                           Form{false, true}));

TEST_F(Zstd, refuses_another_dictionarys_messages) {
  const auto other = make_dictionary(77);
  const auto message = compressed(event(1), other);
  EXPECT_EQ(messages_.decompress(message, out_), errc::zstd_other_dictionary);
  ZstdMessages without(nullptr);
  EXPECT_EQ(without.decompress(message, out_), errc::zstd_other_dictionary);
  ASSERT_FALSE(without.decompress(compressed(event(1), {}), out_));
  EXPECT_EQ(out_, event(1));
}

TEST_F(Zstd, refuses_what_is_no_dictionary) {
  EXPECT_THROW(ZstdDictionary{ByteView()}, std::runtime_error);
  EXPECT_THROW(ZstdDictionary{Bytes(1000, 7)}, std::runtime_error);
  auto damaged = bytes_;
  for (std::size_t i = 8; i < 60; ++i) damaged[i] = 0xff;  // its tables
  EXPECT_THROW(ZstdDictionary{damaged}, std::runtime_error);
}

TEST_F(Zstd, needs_the_whole_message_and_nothing_more) {
  for (const Form form : {Form{true, true}, Form{false, true}}) {
    const auto message = compressed(event(1), bytes_, form);
    for (std::size_t size = 0; size < message.size(); ++size) {
      EXPECT_EQ(messages_.decompress(ByteView(message.data(), size), out_), errc::zstd_malformed)
          << size;
    }
    auto longer = message;
    longer.push_back(0);
    EXPECT_EQ(messages_.decompress(longer, out_), errc::zstd_malformed);
    auto damaged = message;
    damaged.back() ^= 1U;
    EXPECT_EQ(messages_.decompress(damaged, out_), errc::zstd_malformed);
    // The next one is read as if nothing had been.
    ASSERT_FALSE(messages_.decompress(message, out_));
    EXPECT_EQ(out_, event(1));
  }
  const std::string text = R"({"did":"did:plc:x"})";
  EXPECT_EQ(messages_.decompress(Bytes(text.begin(), text.end()), out_), errc::zstd_malformed);
}

TEST_F(Zstd, refuses_what_becomes_too_long) {
  for (const Form form : {Form{true, false}, Form{false, false}}) {
    EXPECT_EQ(messages_.decompress(compressed(Bytes(kMaxFrameBytes + 1, 'x'), bytes_, form), out_),
              errc::zstd_too_large);
    ASSERT_FALSE(messages_.decompress(compressed(Bytes(kMaxFrameBytes, 'x'), bytes_, form), out_));
    EXPECT_EQ(out_, Bytes(kMaxFrameBytes, 'x'));
    ZstdMessages small(&dictionary_, 100);
    EXPECT_EQ(small.decompress(compressed(Bytes(101, 'x'), bytes_, form), out_),
              errc::zstd_too_large);
    EXPECT_FALSE(small.decompress(compressed(Bytes(100, 'x'), bytes_, form), out_));
  }
}

TEST_F(Zstd, is_shared_by_threads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([this, thread] {
      ZstdMessages messages(&dictionary_);
      Bytes out;
      for (int i = 0; i < 200; ++i) {
        const auto plain = event(thread * 1000 + i);
        EXPECT_FALSE(messages.decompress(compressed(plain, bytes_), out));
        EXPECT_EQ(out, plain);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace skua::transport::zstd_messages_test

#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/shared_data.hpp"

namespace skua::test {

/// What gtest allows in a test's name: the position in the list, then letters and digits of `text`.
inline std::string vector_name(std::size_t index, std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string name = std::to_string(index) + "_";
  for (const char c : text.substr(0, kLongest)) {
    name.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
  }
  return name;
}

/// One case of a list. Where the list lies in ../shared and that is missing, a single case with
/// `available` false stands for it, so that the test can say that it was skipped.
struct LineVector {
  std::string text;
  std::size_t line = 0;
  bool available = true;

  friend std::ostream& operator<<(std::ostream& out, const LineVector& vector) {
    return out << "line " << vector.line << ": \"" << vector.text << '"';
  }
};

/// The lines of a file under ../shared/data, without empty ones and comments.
inline std::vector<LineVector> shared_lines(const std::filesystem::path& relative) {
  const auto shared = shared_dir();
  if (!shared) return {{"needs ../shared", 0, false}};
  std::ifstream in(*shared / "data" / relative);
  if (!in) throw std::runtime_error("cannot open " + relative.string());
  std::vector<LineVector> vectors;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.front() != '#') vectors.push_back({line, number, true});
  }
  return vectors;
}

/// Own cases written down in a test.
inline std::vector<LineVector> own_lines(const std::vector<std::string>& texts) {
  std::vector<LineVector> vectors;
  for (const std::string& text : texts) vectors.push_back({text, vectors.size() + 1, true});
  return vectors;
}

/// Names the cases of INSTANTIATE_TEST_SUITE_P.
struct NameOfLine {
  template <class Info>
  std::string operator()(const Info& info) const {
    return vector_name(info.param.line, info.param.text);
  }
};

inline std::vector<std::uint8_t> from_hex(std::string_view hex) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw std::runtime_error("not a hexadecimal digit");
  };
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

inline std::string to_hex(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex.push_back(kDigits[byte >> 4U]);
    hex.push_back(kDigits[byte & 15U]);
  }
  return hex;
}

/// Base64 of the standard alphabet, padded or not.
inline std::vector<std::uint8_t> from_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) throw std::runtime_error("not base64");
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<std::uint8_t>(bits >> count));
      bits &= (1U << count) - 1;
    }
  }
  return bytes;
}

}  // namespace skua::test

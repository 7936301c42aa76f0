// The entry points of libFuzzer (llvm.org/docs/LibFuzzer.html). SKUA_FUZZ_TARGET names the target.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.hpp"

namespace {

void (*run)(skua::ByteView) = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* wanted = std::getenv("SKUA_FUZZ_TARGET");
  for (const auto& target : skua::fuzz::targets()) {
    if (wanted != nullptr && target.name == wanted) run = target.run;
  }
  if (run == nullptr) {
    std::fputs("SKUA_FUZZ_TARGET names no target\n", stderr);
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run({data, size});
  return 0;
}

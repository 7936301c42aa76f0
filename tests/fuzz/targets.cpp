#include <array>

#include "fuzz/target.hpp"

namespace skua::fuzz {

std::span<const Target> targets() {
  static constexpr std::array kTargets{
      Target{"car", run_car},
      Target{"dag_cbor", run_dag_cbor},
      Target{"did_document", run_did_document},
      Target{"frame", run_frame},
      Target{"jetstream", run_jetstream},
      Target{"label_frame", run_label_frame},
      Target{"mst", run_mst},
      Target{"read_ahead", run_read_ahead},
      Target{"repository", run_repository},
      Target{"tap", run_tap},
  };
  return kTargets;
}

}  // namespace skua::fuzz

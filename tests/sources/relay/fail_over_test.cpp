#include "sources/relay/fail_over.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace skua::sources::fail_over_test {
namespace {

using namespace std::chrono_literals;
using TimePoint = FailOver::TimePoint;

const FailOver::Options kOptions{.gone_after = 30s,
                                 .silent_after = 60s,
                                 .back_after = 300s,
                                 .probe_interval = 60s,
                                 .urgent_interval = 5s};

/// Relays as they are, and a fail-over that is driven as a process drives it, a second at a time.
class World {
 public:
  enum class State { Up, Down, Silent };

  explicit World(std::size_t relays)
      : states(relays, State::Up), fail_over_(kOptions, relays, now), since_(relays, now) {}

  void set(std::size_t relay, State state) {
    if (states[relay] == state) return;
    states[relay] = state;
    since_[relay] = now;
  }

  /// One second. True: another relay took over.
  bool turn() {
    now += 1s;
    const std::size_t active = fail_over_.active();
    fail_over_.connection(states[active] != State::Down, now);
    if (states[active] == State::Up || has_no_room) fail_over_.heard(now);
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!fail_over_.wants_probe(i, now)) continue;
      fail_over_.probe_begins(i, now);
      fail_over_.probe_ended(i, states[i] == State::Up);
    }
    const auto next = fail_over_.decide(now);
    if (!next) return false;
    EXPECT_NE(*next, active);
    fail_over_.switched(*next, now);
    ++switches;
    return true;
  }

  bool run(std::chrono::seconds time) {
    bool has_switched = false;
    for (auto i = 0s; i < time; ++i) has_switched = turn() || has_switched;
    return has_switched;
  }

  std::size_t active() const { return fail_over_.active(); }
  std::chrono::nanoseconds unchanged(std::size_t relay) const { return now - since_[relay]; }

  TimePoint now{1'000h};
  std::vector<State> states;
  bool has_no_room = false;
  int switches = 0;

 private:
  FailOver fail_over_;
  std::vector<TimePoint> since_;
};

using State = World::State;

TEST(FailOver, stays_while_all_is_well) {
  World world(2);
  EXPECT_FALSE(world.run(3'600s));
  EXPECT_EQ(world.active(), 0U);
}

TEST(FailOver, leaves_a_relay_that_cannot_be_reached) {
  World world(2);
  world.run(100s);
  world.set(0, State::Down);
  EXPECT_FALSE(world.run(29s));
  EXPECT_TRUE(world.run(3s));
  EXPECT_EQ(world.active(), 1U);
}

TEST(FailOver, leaves_a_relay_that_says_nothing) {
  World world(2);
  world.run(100s);
  world.set(0, State::Silent);
  EXPECT_FALSE(world.run(59s));
  EXPECT_TRUE(world.run(7s));
  EXPECT_EQ(world.active(), 1U);
}

TEST(FailOver, a_relay_that_is_let_in_and_says_nothing_is_silent_however_often_it_is) {
  World world(2);
  for (int i = 0; i < 70; ++i) {
    world.set(0, i % 3 == 0 ? State::Down : State::Silent);
    world.turn();
  }
  EXPECT_EQ(world.active(), 1U);
}

TEST(FailOver, what_there_is_no_room_for_is_no_silence) {
  World world(2);
  world.set(0, State::Silent);
  world.has_no_room = true;
  EXPECT_FALSE(world.run(3'600s));
}

TEST(FailOver, stays_where_it_is_when_nobody_can_be_reached) {
  World world(3);
  for (std::size_t i = 0; i < 3; ++i) world.set(i, State::Down);
  EXPECT_FALSE(world.run(3'600s));
  // The machine is on the network again, but the first relay is not.
  world.set(2, State::Up);
  EXPECT_TRUE(world.run(10s));
  EXPECT_EQ(world.active(), 2U);
}

TEST(FailOver, the_preferred_one_is_back_after_a_while) {
  World world(2);
  world.set(0, State::Down);
  world.run(40s);
  ASSERT_EQ(world.active(), 1U);
  world.set(0, State::Up);
  EXPECT_FALSE(world.run(295s));
  EXPECT_TRUE(world.run(130s));
  EXPECT_EQ(world.active(), 0U);
}

TEST(FailOver, one_that_comes_and_goes_is_left_alone) {
  World world(2);
  world.set(0, State::Down);
  world.run(40s);
  ASSERT_EQ(world.active(), 1U);
  for (int i = 0; i < 20; ++i) {
    world.set(0, State::Up);
    world.run(150s);
    world.set(0, State::Silent);
    world.run(100s);
  }
  EXPECT_EQ(world.switches, 1);
}

TEST(FailOver, of_several_that_are_well_the_first_takes_over) {
  World world(4);
  world.set(0, State::Down);
  world.set(1, State::Silent);
  world.run(60s);
  EXPECT_EQ(world.active(), 2U);
}

TEST(FailOver, whatever_happens_a_relay_that_is_well_is_read) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](unsigned below) {
      return std::uniform_int_distribution<unsigned>(0, below - 1)(random);
    };
    World world(2 + chance(3));
    for (int i = 0; i < 4'000; ++i) {
      if (chance(200) == 0) {
        const std::array kStates{State::Up, State::Up, State::Down, State::Silent};
        world.set(chance(static_cast<unsigned>(world.states.size())), kStates[chance(4)]);
      }
      const std::size_t before = world.active();
      if (world.turn()) {
        // A silent relay never takes over, and a preferred relay that works stays active.
        ASSERT_EQ(world.states[world.active()], State::Up) << seed;
        if (world.active() > before) {
          ASSERT_NE(world.states[before], State::Up) << seed;
        }
      }
      const bool is_dead =
          world.states[world.active()] != State::Up && world.unchanged(world.active()) > 70s;
      for (std::size_t other = 0; other < world.states.size(); ++other) {
        if (world.states[other] != State::Up) continue;
        ASSERT_FALSE(is_dead && world.unchanged(other) > 20s) << seed << " at turn " << i;
        if (other < world.active()) {
          ASSERT_LE(world.unchanged(other), 430s) << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skua::sources::fail_over_test

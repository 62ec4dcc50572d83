// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/mimic_circles.h"

#include <map>

namespace catena {

std::vector<const Coupling*> mimic_circles(const std::vector<Coupling>& mimics) {
  using Freedom = std::pair<std::string, int>;
  const auto freedom = [](const Coupling::Term& term) -> Freedom {
    return {term.hinge, term.freedom};
  };
  struct Follower {
    const Coupling* mimic;
    std::size_t seen = 0;  // number of the walk that came by
  };
  std::map<Freedom, Follower> followers;
  for (const Coupling& mimic : mimics) followers.emplace(freedom(mimic.terms[0]), Follower{&mimic});

  std::vector<const Coupling*> circles;
  std::size_t walk = 0;
  for (const Coupling& mimic : mimics) {
    ++walk;
    auto here = followers.find(freedom(mimic.terms[0]));
    while (here != followers.end() && here->second.seen == 0) {
      here->second.seen = walk;
      here = followers.find(freedom(here->second.mimic->terms[1]));
    }
    if (here != followers.end() && here->second.seen == walk) circles.push_back(here->second.mimic);
  }
  return circles;
}

}  // namespace catena

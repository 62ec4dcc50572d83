// SPDX-License-Identifier: BSD-3-Clause
// Plants of the COMPleib collection from verification/compleib (format: the comment of each file).
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "catena/linear/state_space.h"

namespace catena::test {

inline StateSpace load_plant(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  StateSpace g;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string matrix;
    int i = 0, j = 0;
    words >> matrix >> i >> j;
    if (matrix == "size") {
      int p = 0;
      words >> p;
      g.A = Eigen::MatrixXd::Zero(i, i);
      g.B = Eigen::MatrixXd::Zero(i, j);
      g.C = Eigen::MatrixXd::Zero(p, i);
      g.D = Eigen::MatrixXd::Zero(p, j);
      continue;
    }
    double value = 0.0;
    if (!(words >> value)) throw std::runtime_error("bad line in " + path + ": " + line);
    (matrix == "A" ? g.A : matrix == "B" ? g.B : g.C)(i - 1, j - 1) = value;
  }
  return g;
}

inline StateSpace compleib(const std::string& name) {
  std::string path = CATENA_SOURCE_DIR;
  path += "/verification/compleib/";
  path += name;
  path += ".txt";
  return load_plant(path);
}

}  // namespace catena::test

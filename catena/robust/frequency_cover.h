// SPDX-License-Identifier: BSD-3-Clause
// The frequencies at which a bound with given scalings may be exceeded.
#pragma once

#include <vector>

#include "catena/linear/freqresp.h"
#include "catena/robust/mu.h"

namespace catena {

class FrequencyCover {
 public:
  // A stable continuous system from p to q.
  FrequencyCover(const StateSpace& m, const BlockStructure& structure);

  Eigen::MatrixXcd response(double omega) const;  // infinite: D
  const Eigen::VectorXcd& poles() const { return poles_; }
  // Frequencies ω ≥ 0 where β² D_r − Mᴴ D_c M − j (G M − Mᴴ G) may be singular, ascending. Those
  // where the bound stays `slack` (relative) below the level are dismissed: eigenvalues that are
  // only near the axis. `beyond`: at infinite frequency it is not positive.
  struct Crossings {
    std::vector<double> omega;
    bool beyond = false;
  };
  Crossings crossings(const MuScaling& scaling, double beta, double slack) const;

 private:
  StateSpace m_;
  BlockStructure structure_;
  FrequencyEvaluator evaluator_;
  Eigen::VectorXcd poles_;
};

}  // namespace catena

// SPDX-License-Identifier: BSD-3-Clause
// Chooses the columns of a run and fills its rows (outputs.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/dynamics/forces.h"
#include "catena/dynamics/workspace.h"
#include "catena/simulation/recording/auditor.h"
#include "catena/simulation/recording/outputs.h"

namespace catena {

class OutputColumns {
 public:
  // A pattern that matches nothing is a NameError with the nearest name. No pattern: q, v, effort,
  // energy and contact. The name of an extra column must be its own.
  OutputColumns(Equations& equations, std::span<const std::string> patterns,
                std::span<const ExtraOutput> extra = {});

  const std::vector<RunColumn>& columns() const { return columns_; }
  // Fills a row from the evaluation and the measurements at y.
  const std::vector<double>& row(const Equations& equations, const Evaluation& found,
                                 const Auditor::Measured& measured, const Eigen::VectorXd& y);

 private:
  // A frame, or the origin of a body.
  struct Place {
    int body;
    Vec3d point;
  };
  std::vector<std::string> find_places(const Mechanism& m);  // their names
  // Of a contact of the constraint set.
  struct Contact {
    int constraint;
    int plane_body;
    Rotationd axes;  // of its forces, in the frame of the plane's body: z is the normal
  };
  void put_contacts(const Equations& equations, const Evaluation& found, std::size_t first);
  void put_places(const Mechanism& mechanism, const State& state);
  void put_forces(const Equations& equations, const Evaluation& found);

  std::vector<RunColumn> columns_;
  std::vector<int> chosen_;  // indices into all
  std::vector<Contact> contacts_;
  std::vector<Place> places_;
  std::size_t first_of_places_ = 0;  // in all: their positions, then their velocities
  std::vector<std::uint8_t> wanted_places_;
  std::vector<std::uint8_t> wanted_hinges_;
  std::size_t first_of_hinges_ = 0;       // in all: their forces, then their moments
  std::unique_ptr<Workspace> workspace_;  // if any of these is wanted
  std::unique_ptr<InterbodyForces> forces_;
  std::vector<double> all_;
  std::vector<ExtraOutput> extra_;
  std::vector<double> row_;
};

}  // namespace catena

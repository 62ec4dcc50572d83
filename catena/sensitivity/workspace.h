// SPDX-License-Identifier: BSD-3-Clause
// SensitivityWorkspace: the memory of derivatives of one mechanism. Derivatives of trees and
// products allocate nothing after their first call (which sizes the matrices); those of hybrid
// dynamics and of closed mechanisms use small temporary matrices. One workspace serves one thread,
// and the mechanism must outlive it.
//
// The tables of columns are O(N); the matrices are sized only by the calls that return matrices, so
// that products with vectors (products.h) serve chains of any length.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"
#include "catena/sensitivity/kernels/column_table.h"
#include "catena/sensitivity/results.h"
#include "catena/sensitivity/tangent.h"

namespace catena {

class FlexibleDuals;

class SensitivityWorkspace {
 public:
  explicit SensitivityWorkspace(const Mechanism& mechanism);
  SensitivityWorkspace(const SensitivityWorkspace&) = delete;  // its tables point into itself
  SensitivityWorkspace& operator=(const SensitivityWorkspace&) = delete;
  ~SensitivityWorkspace();

  const Mechanism& mechanism() const { return dynamics_.mechanism(); }
  // The workspace of the dynamics underneath: charts are set there.
  Workspace& dynamics() { return dynamics_; }
  const Workspace& dynamics() const { return dynamics_; }

  // ---- For the algorithms of this room. ----
  const DerivativeTable<double>& columns() const { return table_; }
  DerivativeTable<double>& columns() { return table_; }
  // The zeros of the tree's matrices, and a pattern without zeros.
  const MatrixPattern& tree_pattern() const { return tree_; }
  const MatrixPattern& dense_pattern() const { return dense_; }
  // Drives on distant carriers couple freedoms of different branches, springs do in ∂τ/∂q.
  const MatrixPattern& mass_pattern() const {
    return dynamics_.remote_drives().empty() ? tree_ : dense_;
  }
  const MatrixPattern& product_pattern() const {
    return mechanism().springs().empty() ? mass_pattern() : dense_;
  }
  int stride() const { return tree_.stride; }

  // Padded matrices of the spanning tree, sized on first use.
  void need_matrices();
  double* by_q() { return matrix(0); }
  double* by_v() { return matrix(1); }
  double* mass() { return matrix(2); }
  double* inverse_mass() { return matrix(3); }
  double* product() { return matrix(4); }
  double* work() { return matrix(5); }  // two of them

  // Results of the last calls.
  InverseDerivatives inverse;
  ForwardDerivatives forward;
  HybridDerivatives hybrid;
  Eigen::VectorXd acceleration;  // of all freedoms
  Eigen::VectorXd effort;        // that the spanning tree needs (closed mechanisms)
  TangentMaps tangent;           // of a closed mechanism
  ClosureDuals& closure_duals();
  FlexibleDuals& flexible_duals();  // of a mechanism with flexible bodies

 private:
  struct PatternStore {
    std::vector<RowSegment> segments;
    std::vector<int> first_segment, inboard, first_inboard, group_rows, first_group_row;
    MatrixPattern pattern(int size, int stride) const;
  };
  // Rows start at cache lines, so that no group of rows lies in two of them.
  template <class T>
  struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};
    LineAllocator() = default;
    template <class Other>
    LineAllocator(const LineAllocator<Other>&) {}  // NOLINT: what an allocator must have
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* block, std::size_t) { ::operator delete(block, kLine); }
    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
  };
  void make_patterns();
  double* matrix(int i) {
    return matrices_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(matrix_size_);
  }

  Workspace dynamics_;
  std::vector<double, LineAllocator<double>> numbers_;
  std::vector<ColumnNode<double>> nodes_;
  std::vector<GeneralColumns<double>> general_;
  std::vector<DriveTerm> drives_;
  std::vector<RotorColumn<double>> rotors_;
  DerivativeTable<double> table_;
  PatternStore tree_store_, dense_store_;
  MatrixPattern tree_, dense_;
  bool has_patterns_ = false;
  std::ptrdiff_t matrix_size_ = 0;
  std::vector<double, LineAllocator<double>> matrices_;
  std::unique_ptr<ClosureDuals> closure_duals_;
  std::unique_ptr<FlexibleDuals> flexible_duals_;
};

// The drives of a mechanism that have a rotor.
std::vector<DriveTerm> drive_terms(const Mechanism& mechanism);

}  // namespace catena

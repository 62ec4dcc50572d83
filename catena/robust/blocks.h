// SPDX-License-Identifier: BSD-3-Clause
// The structure of an uncertainty: Δ = diag(Δ_1, ..., Δ_k), each block of one of three kinds.
//
//   real      δ I_n, δ real in [-1, 1]: a physical parameter that appears n times
//   complex   δ I_n, |δ| ≤ 1: the same unknown dynamics on n channels
//   full      a complex matrix, rows × columns, σ_max ≤ 1: unknown dynamics between channels
//
//   BlockStructure structure;
//   structure.add_real("mass.payload", 2);
//   structure.add_full("actuator", 1, 1);
//
// Channels: p = Δ q. Block k reads `columns` entries of q and writes `rows` entries of p, in order.
// A matrix M with q = M p is therefore columns() × rows(), and the loop is singular where
// det(1 − M Δ) = 0 (positive feedback).
#pragma once

#include <complex>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena {

enum class BlockKind { real, complex, full };

struct Block {
  std::string name{};
  BlockKind kind = BlockKind::full;
  int rows = 1;     // entries of p that it writes
  int columns = 1;  // entries of q that it reads; the same for real and complex
  bool is_scalar() const { return kind != BlockKind::full || (rows == 1 && columns == 1); }
};

// A perturbation of this structure: the scalar of real and complex blocks, the matrix of full ones.
struct BlockValue {
  std::complex<double> scalar{};
  Eigen::MatrixXcd matrix{};
};

class BlockStructure {
 public:
  BlockStructure() = default;
  explicit BlockStructure(std::vector<Block> blocks);

  void add_real(std::string name, int repeats = 1);
  void add_complex(std::string name, int repeats = 1);
  void add_full(std::string name, int rows = 1, int columns = 1);

  const std::vector<Block>& blocks() const { return blocks_; }
  int size() const { return static_cast<int>(blocks_.size()); }
  const Block& operator[](int k) const;
  int rows() const;     // of Δ: length of p
  int columns() const;  // length of q
  int row_offset(int k) const;
  int column_offset(int k) const;
  bool has_real() const;
  // Index by name; an unknown name throws NameError with the nearest.
  int index(const std::string& name) const;

  // Δ, rows() × columns(). Throws Error naming the block whose value does not fit.
  Eigen::MatrixXcd matrix(const std::vector<BlockValue>& values) const;
  // The largest modulus, or singular value, of a block.
  double norm(const std::vector<BlockValue>& values) const;
  // Throws Error naming what is not positive or not square, or a name that stands twice.
  void validate() const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace catena

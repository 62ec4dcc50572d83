// SPDX-License-Identifier: BSD-3-Clause
// Products of dynamic matrices and vectors of doubles compiled once (eigen_products.cpp): Eigen's
// kernels cost half a second in every file that multiplies two matrices. For the precompiled
// header of this build only: a user of the library may compile for another instruction set, where
// these kernels have other types.
#pragma once

#include <Eigen/Core>

namespace Eigen::internal {

template <int Order>
using MatrixOfDoubles = const_blas_data_mapper<double, Index, Order>;
using KernelOfDoubles = gebp_traits<double, double>;

#define CATENA_MATRIX_VECTOR(how, order, right)                                                   \
  how template struct general_matrix_vector_product<Index, double, MatrixOfDoubles<order>, order, \
                                                    false, double, MatrixOfDoubles<right>, false, \
                                                    0>;
#define CATENA_MATRIX_MATRIX(how, left, right)                                                 \
  how template struct general_matrix_matrix_product<Index, double, left, false, double, right, \
                                                    false, ColMajor, 1>;
#define CATENA_PACKED(how, order)                                                               \
  how template struct gemm_pack_lhs<double, Index, MatrixOfDoubles<order>, KernelOfDoubles::mr, \
                                    KernelOfDoubles::LhsProgress,                               \
                                    KernelOfDoubles::LhsPacket4Packing, order>;                 \
  how template struct gemm_pack_rhs<double, Index, MatrixOfDoubles<order>, KernelOfDoubles::nr, \
                                    order>;
#define CATENA_PRODUCTS(how)                                                               \
  how template struct gebp_kernel<double, double, Index,                                   \
                                  blas_data_mapper<double, Index, ColMajor, Unaligned, 1>, \
                                  KernelOfDoubles::mr, KernelOfDoubles::nr, false, false>; \
  CATENA_PACKED(how, ColMajor)                                                             \
  CATENA_PACKED(how, RowMajor)                                                             \
  CATENA_MATRIX_MATRIX(how, ColMajor, ColMajor)                                            \
  CATENA_MATRIX_MATRIX(how, ColMajor, RowMajor)                                            \
  CATENA_MATRIX_MATRIX(how, RowMajor, ColMajor)                                            \
  CATENA_MATRIX_MATRIX(how, RowMajor, RowMajor)                                            \
  CATENA_MATRIX_VECTOR(how, ColMajor, ColMajor)                                            \
  CATENA_MATRIX_VECTOR(how, ColMajor, RowMajor)                                            \
  CATENA_MATRIX_VECTOR(how, RowMajor, ColMajor)                                            \
  CATENA_MATRIX_VECTOR(how, RowMajor, RowMajor)

CATENA_PRODUCTS(extern)

}  // namespace Eigen::internal

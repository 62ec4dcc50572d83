// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/eigen_products.h"

namespace Eigen::internal {

CATENA_PRODUCTS()

}  // namespace Eigen::internal

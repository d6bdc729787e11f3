// SPDX-License-Identifier: GPL-3.0-or-later
// libfmt.a, which Debian does not have: the functions that fmt's headers leave to its library. What
// is missing here, the linker says.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);

} // namespace detail
FMT_END_NAMESPACE

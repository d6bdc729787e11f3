// SPDX-License-Identifier: GPL-3.0-or-later
// In place of libbpf's header of this name, of which walks need nothing: see bpf_helpers.h.

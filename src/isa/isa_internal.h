/* SPDX-License-Identifier: BSD-2-Clause */
/* The two decoders behind ep_isa_decode(). */
#ifndef EP_ISA_ISA_INTERNAL_H
#define EP_ISA_ISA_INTERNAL_H

#include "isa/isa.h"

void ep_isa_x86_64(const uint8_t *bytes, size_t n, uint64_t vaddr, struct ep_insn *ret);
void ep_isa_aarch64(const uint8_t *bytes, size_t n, uint64_t vaddr, struct ep_insn *ret);

#endif

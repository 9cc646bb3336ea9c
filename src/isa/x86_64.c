/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64: Zydis finds the length, the opcode tells the class. */
#include <Zydis/Decoder.h>
#include <pthread.h>

#include "isa/isa_internal.h"

static ZydisDecoder decoder;
static pthread_once_t decoder_once = PTHREAD_ONCE_INIT;

/*
 * Zydis' minimal mode skips its tables of operands and semantics, three quarters of its time. It
 * also knows nothing of the opcodes that take no semantics to refuse; those are OTHER then.
 */
static void decoder_init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

static enum ep_insn_class class_ff(const ZydisDecodedInstruction *z)
{
	switch (z->raw.modrm.reg) {
	case 2:
	case 3:
		return EP_INSN_IND_CALL;
	case 4:
	case 5:
		return EP_INSN_IND_JUMP;
	default:
		return EP_INSN_OTHER;
	}
}

static enum ep_insn_class class_one_byte(const ZydisDecodedInstruction *z)
{
	switch (z->opcode) {
	case 0xe0: /* LOOPNE, LOOPE, LOOP, JRCXZ */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return EP_INSN_COND;
	case 0xe8:
		return EP_INSN_CALL;
	case 0xe9:
	case 0xeb:
		return EP_INSN_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		return EP_INSN_RET;
	case 0xcf:
		return EP_INSN_ERET;
	case 0xcd:
		return EP_INSN_SYSCALL;
	case 0xf4:
		return EP_INSN_TRAP;
	case 0xc7: /* XBEGIN goes to its fallback when the transaction aborts */
		return z->raw.modrm.mod == 3 && z->raw.modrm.reg == 7 ? EP_INSN_COND
		                                                      : EP_INSN_OTHER;
	case 0xff:
		return class_ff(z);
	default:
		return z->opcode >= 0x70 && z->opcode <= 0x7f ? EP_INSN_COND : EP_INSN_OTHER;
	}
}

static enum ep_insn_class class_0f(const ZydisDecodedInstruction *z)
{
	switch (z->opcode) {
	case 0x05: /* SYSCALL */
	case 0x34: /* SYSENTER */
		return EP_INSN_SYSCALL;
	case 0x07: /* SYSRET */
	case 0x35: /* SYSEXIT */
		return EP_INSN_ERET;
	case 0x0b: /* UD2, UD1, UD0 */
	case 0xb9:
	case 0xff:
		return EP_INSN_TRAP;
	default:
		return z->opcode >= 0x80 && z->opcode <= 0x8f ? EP_INSN_COND : EP_INSN_OTHER;
	}
}

/*
 * glibc jumps between a LOCK prefix and its instruction where there is one thread only, so both are
 * places where execution goes on. LLVM's disassembler sees it the same way.
 */
#define LOCK_PREFIX 0xf0

void ep_isa_x86_64(const uint8_t *bytes, size_t n, uint64_t vaddr, struct ep_insn *ret)
{
	ZydisDecodedInstruction z;

	*ret = (struct ep_insn){.length = 1, .cls = EP_INSN_INVALID};
	if (n && bytes[0] == LOCK_PREFIX) {
		ret->cls = EP_INSN_OTHER;
		return;
	}
	pthread_once(&decoder_once, decoder_init);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, n, &z)))
		return;
	ret->length = z.length;
	ret->cls = EP_INSN_OTHER;
	if (z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return;
	if (z.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		ret->cls = class_one_byte(&z);
	else if (z.opcode_map == ZYDIS_OPCODE_MAP_0F)
		ret->cls = class_0f(&z);
	if (ret->cls != EP_INSN_COND && ret->cls != EP_INSN_JUMP && ret->cls != EP_INSN_CALL)
		return;
	ret->has_target = true;
	ret->target = vaddr + z.length + (uint64_t)z.raw.imm[0].value.s;
}

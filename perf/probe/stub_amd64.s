//go:build linux

#include "textflag.h"

// The gate: 16 bytes to find it by, then four semaphores. It must not be all zeros,
// or it would be in memory that no file is behind, where the kernel counts nothing.
DATA ·gate+0(SB)/8, $0x9d4f766572746b65
DATA ·gate+8(SB)/8, $0x6f62652e97c3a1b2
DATA ·gate+16(SB)/8, $0
GLOBL ·gate(SB), NOPTR, $24

// func WriteBegin(m *Message)
TEXT ·WriteBegin(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ m+0(FP), DI
	BYTE $0x90                                                 // where it is not optimised
	BYTE $0x0f; BYTE $0x1f; BYTE $0x44; BYTE $0x00; BYTE $0x00 // where it is
	RET

// func Processed(m *Message)
TEXT ·Processed(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ m+0(FP), DI
	BYTE $0x90
	BYTE $0x0f; BYTE $0x1f; BYTE $0x44; BYTE $0x00; BYTE $0x00
	RET

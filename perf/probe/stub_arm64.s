//go:build linux

#include "textflag.h"

// See stub_amd64.s.
DATA ·gate+0(SB)/8, $0x9d4f766572746b65
DATA ·gate+8(SB)/8, $0x6f62652e97c3a1b2
DATA ·gate+16(SB)/8, $0
GLOBL ·gate(SB), NOPTR, $24

// func WriteBegin(m *Message)
TEXT ·WriteBegin(SB), NOSPLIT|NOFRAME, $0-8
	MOVD m+0(FP), R0
	NOOP
	RET

// func Processed(m *Message)
TEXT ·Processed(SB), NOSPLIT|NOFRAME, $0-8
	MOVD m+0(FP), R0
	NOOP
	RET

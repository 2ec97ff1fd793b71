#include "textflag.h"

// func match8(slots unsafe.Pointer, hash uint32) uint32
TEXT ·match8(SB), NOSPLIT, $0-20
	MOVQ     slots+0(FP), AX
	MOVL     hash+8(FP), X4
	PSHUFD   $0, X4, X4
	MOVUPS   0(AX), X0
	MOVUPS   16(AX), X1
	MOVUPS   32(AX), X2
	MOVUPS   48(AX), X3
	SHUFPS   $0xDD, X1, X0     // the high halves of four slots: their hashes
	SHUFPS   $0xDD, X3, X2
	PCMPEQL  X4, X0
	PCMPEQL  X4, X2
	PACKSSLW X2, X0
	PACKSSWB X0, X0
	PMOVMSKB X0, AX
	MOVBLZX  AX, AX
	MOVL     AX, ret+16(FP)
	RET

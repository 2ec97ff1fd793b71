#include "go_asm.h"
#include "textflag.h"

// MATCH8 sets AX to a bit for each of the eight slots at AX whose hash is in all of X4.
#define MATCH8 \
	MOVUPS   0(AX), X0     \
	MOVUPS   16(AX), X1    \
	MOVUPS   32(AX), X2    \
	MOVUPS   48(AX), X3    \
	SHUFPS   $0xDD, X1, X0 \ // the high halves of four slots: their hashes
	SHUFPS   $0xDD, X3, X2 \
	PCMPEQL  X4, X0        \
	PCMPEQL  X4, X2        \
	PACKSSLW X2, X0        \
	PACKSSWB X0, X0        \
	PMOVMSKB X0, AX        \
	MOVBLZX  AX, AX

// func match8(slots unsafe.Pointer, hash uint32) uint32
TEXT ·match8(SB), NOSPLIT, $0-20
	MOVQ   slots+0(FP), AX
	MOVL   hash+8(FP), X4
	PSHUFD $0, X4, X4
	MATCH8
	MOVL   AX, ret+16(FP)
	RET

// func probeRun(x *index, hashes *uint32, found *address, n int)
TEXT ·probeRun(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), BX
	MOVQ hashes+8(FP), SI
	MOVQ found+16(FP), DI
	MOVQ n+24(FP), CX
	MOVQ index_slots(BX), R8
	MOVQ index_lo(BX), R9
	MOVQ index_width(BX), R10
	MOVQ index_below(BX), R11
	MOVQ index_above(BX), R12
	MOVQ index_frontier(BX), R13
	LEAQ (SI)(CX*4), CX
	JMP  more

next:
	MOVL    (SI), DX
	IMUL3L  $const_scrambler, DX, BX // scrambled
	SUBQ    R9, DX              // owned if below the width
	MOVL    BX, X4
	PSHUFD  $0, X4, X4
	MOVQ    R11, AX
	CMPQ    BX, R13
	CMOVQCC R12, AX
	IMULQ   BX, AX
	SHRQ    $32, AX
	LEAQ    (R8)(AX*8), BX      // home
	XORL    AX, AX
	CMPQ    DX, R10
	JCC     none
	MOVQ    BX, AX
	MATCH8
	BSFL    AX, AX
	JEQ     none
	MOVL    (BX)(AX*8), AX

none:
	MOVL AX, (DI)
	ADDQ $4, SI
	ADDQ $4, DI

more:
	CMPQ SI, CX
	JCS  next
	RET

#include "textflag.h"

// The kernel calls a handler with the signal's number in R0, and puts all
// registers back afterwards.
TEXT ·noteSignal(SB),NOSPLIT|NOFRAME,$0-0
	MOVD $·noted(SB), R1
	ADD  R0<<2, R1
	MOVD $1, R2
	MOVW R2, (R1)
	RET

TEXT ·noteSignalAddress(SB),NOSPLIT,$0-8
	MOVD $·noteSignal(SB), R0
	MOVD R0, ret+0(FP)
	RET

// Without a restorer the kernel sends handlers back through its own code.
TEXT ·endHandlerAddress(SB),NOSPLIT,$0-8
	MOVD ZR, ret+0(FP)
	RET

TEXT ·sigaction(SB),NOSPLIT,$0-24
	MOVD sig+0(FP), R0
	MOVD act+8(FP), R1
	MOVD old+16(FP), R2
	MOVD $8, R3   // the size of a mask
	MOVD $134, R8 // rt_sigaction
	SVC
	RET

// It ends the process with 128 plus the number.
TEXT ·exitBySignal(SB),NOSPLIT|NOFRAME,$0-0
	ADD  $128, R0
	MOVD $94, R8 // exit_group
	SVC
	BRK           // not reached

TEXT ·exitBySignalAddress(SB),NOSPLIT,$0-8
	MOVD $·exitBySignal(SB), R0
	MOVD R0, ret+0(FP)
	RET

#include "textflag.h"

// The kernel calls a handler with the signal's number in R0.
TEXT ·exitBySignal(SB),NOSPLIT|NOFRAME,$0-0
	ADD  $128, R0
	MOVD $94, R8 // exit_group
	SVC
	BRK           // not reached

TEXT ·exitBySignalAddress(SB),NOSPLIT,$0-8
	MOVD $·exitBySignal(SB), R0
	MOVD R0, ret+0(FP)
	RET

#include "textflag.h"

// The kernel calls a handler with the signal's number in DI, and puts all
// registers back afterwards.
TEXT ·noteSignal(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ ·noted(SB), AX
	MOVL $1, (AX)(DI*4)
	RET

// The handler returns here.
TEXT ·endHandler(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ $15, AX // rt_sigreturn
	SYSCALL
	INT  $3      // not reached

TEXT ·noteSignalAddress(SB),NOSPLIT,$0-8
	LEAQ ·noteSignal(SB), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT ·endHandlerAddress(SB),NOSPLIT,$0-8
	LEAQ ·endHandler(SB), AX
	MOVQ AX, ret+0(FP)
	RET

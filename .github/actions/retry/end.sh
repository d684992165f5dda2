#!/usr/bin/env bash
# Writes the action's outputs from those of the program, and ends the action as
# the command ended. A program that has not begun has written none.
set -uo pipefail

attempts=${RETRYSH_IN_ATTEMPTS:-0} code=$RETRYSH_IN_EXIT_CODE outcome=${RETRYSH_IN_OUTCOME:-error} error=
if [ -z "$code" ]; then
	code=1
	[ "$RETRYSH_IN_STEP" != success ] || code=0 outcome=succeeded
fi
if [ "$outcome" != succeeded ] && [ "$code" != 0 ]; then
	[ "$RETRYSH_IN_TIMED_OUT" != true ] || code=1
	error=${RETRYSH_IN_REASON:-the program has not begun}
	if [ "$attempts" != 0 ] && { [ "$outcome" = exhausted ] || [ "$attempts" = "$RETRYSH_IN_MAX_ATTEMPTS" ]; }; then
		error="Final attempt failed. $error"
	fi
fi
printf 'total_attempts=%s\nexit_code=%s\nexit_error=%s\noutcome=%s\n' "$attempts" "$code" "$error" "$outcome" >>"$GITHUB_OUTPUT"
case $RETRYSH_IN_CONTINUE_ON_ERROR in
true | True | TRUE) [ "$attempts" = 0 ] || exit 0 ;;
esac
exit "$code"

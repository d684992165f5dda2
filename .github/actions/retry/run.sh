#!/usr/bin/env bash
# Turns the action's inputs into flags of retry and becomes it. An input that is
# not valid fails the step before attempt 1. No variable of the action, which begin
# with RETRYSH_, reaches the command's environment.
set -uo pipefail

# fail ends the step before attempt 1: $1 is the input, $2 its value, $3 what
# would be right.
fail() {
	local value=${2//[^[:print:]]/ }
	value=${value//##/# #}
	printf '::error title=retry::%s: "%s" is not %s\n' "$1" "${value:0:100}" "$3"
	printf 'attempts=0\noutcome=error\nexit_code=1\ntimed_out=false\nreason=%s is not %s\n' "$1" "$3" >>"$GITHUB_OUTPUT"
	exit 1
}

# whole fails unless the value of input $1, $2, is a whole number from $3.
whole() {
	[[ $2 =~ ^[0-9]{1,9}$ ]] && [ "$((10#$2))" -ge "$3" ] && return
	fail "$1" "$2" "a whole number from $3"
}

# boolean fails unless the value of input $1, $2, is true or false in any case.
boolean() {
	case $(lower "$2") in
	true | false) ;;
	*) fail "$1" "$2" "true or false" ;;
	esac
}

lower() { printf '%s' "$1" | tr '[:upper:]' '[:lower:]'; }

# quoted prints $1 as one word for /bin/sh.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

attempts=$RETRYSH_IN_MAX_ATTEMPTS wait=$RETRYSH_IN_RETRY_WAIT_SECONDS
minutes=$RETRYSH_IN_TIMEOUT_MINUTES seconds=$RETRYSH_IN_TIMEOUT_SECONDS
policy=$RETRYSH_IN_POLICY classify=$RETRYSH_IN_CLASSIFY
flags=(--stdin null --log-format github)

[ -n "$RETRYSH_IN_COMMAND" ] || fail command "" "a command"
whole max_attempts "$attempts" 1
whole retry_wait_seconds "$wait" 0
[ -z "$minutes" ] || whole timeout_minutes "$minutes" 0
[ -z "$seconds" ] || whole timeout_seconds "$seconds" 0
[ -z "$minutes" ] || [ -z "$seconds" ] || fail timeout_seconds "$seconds" "given alone: timeout_minutes is given as well"
boolean continue_on_error "$RETRYSH_IN_CONTINUE_ON_ERROR"
boolean warning_on_retry "$RETRYSH_IN_WARNING_ON_RETRY"

[ -z "$policy" ] || flags+=("--policy=$policy")
if [ -z "$policy" ] || [ "$attempts" != 3 ]; then
	flags+=(--attempts "$((10#$attempts))")
fi
if [ -z "$policy" ] || [ "$wait" != 10 ]; then
	flags+=(--backoff constant --jitter none --base "$((10#$wait))s")
fi
[ -z "$minutes" ] || flags+=(--timeout "$((10#$minutes))m")
[ -z "$seconds" ] || flags+=(--timeout "$((10#$seconds))s")
case $classify in
"") ;;
any | smart | strict) flags+=(--classify "$classify") ;;
*) fail classify "$classify" "any, smart or strict" ;;
esac
case $RETRYSH_IN_RETRY_ON in
"" | any) ;;
timeout) flags+=(--on-exit timeout) ;;
error) flags+=(--stop-on-exit timeout) ;;
*) fail retry_on "$RETRYSH_IN_RETRY_ON" "any, timeout or error" ;;
esac
[ -z "$RETRYSH_IN_RETRY_ON_EXIT_CODE" ] || flags+=("--on-exit=$RETRYSH_IN_RETRY_ON_EXIT_CODE")
[ "$(lower "$RETRYSH_IN_WARNING_ON_RETRY")" = true ] || flags+=(--quiet)

# The shell. One that is not known here fails as a command does.
shell=$RETRYSH_IN_SHELL
case $(uname -s) in
MINGW* | MSYS* | CYGWIN*)
	windows=yes shell=${shell:-powershell}
	export MSYS2_ARG_CONV_EXCL='*' # or words that look like paths are rewritten
	;;
*) windows=no shell=${shell:-bash} ;;
esac
case $shell/$windows in
bash/* | sh/no | python/* | pwsh/*) command=("$shell" -c) ;;
cmd/yes) command=(cmd /c) ;;
powershell/yes) command=(powershell -Command) ;;
*)
	# shellcheck disable=SC2016 # the shell that runs expands it
	command=(bash -c 'printf "shell %s is not supported here\n" "$0" >&2; exit 1' "$shell")
	;;
esac
command+=("$RETRYSH_IN_COMMAND")

before=$RETRYSH_IN_ON_RETRY_COMMAND
if [ -n "$before" ]; then
	# Exit code 75 would end the run.
	flags+=(--hook-timeout 0 --before-retry "sh -c $(quoted "$before") || { code=\$?; [ \"\$code\" -ne 75 ] || exit 1; exit \"\$code\"; }")
fi
other=$RETRYSH_IN_NEW_COMMAND_ON_RETRY
if [ -n "$other" ]; then
	flags+=(--retry-with "exec ${command[0]} ${command[1]} $(quoted "$other")")
fi

# The user's flags come last, so that they win.
more=$RETRYSH_IN_FLAGS
if [[ $more = *[![:space:]]* ]]; then
	list=$(mktemp) || exit 1
	if ! printf '%s\n' "$more" | xargs printf '%s\0' >"$list" 2>/dev/null; then
		rm -f "$list"
		fail flags "$more" "a list of words: a quote is not closed"
	fi
	while IFS= read -r -d '' word; do
		flags+=("$word")
	done <"$list"
	rm -f "$list"
fi

program=$RETRYSH_IN_PROGRAM
for name in "${!RETRYSH_@}"; do unset "$name"; done
exec "$program" "${flags[@]}" -- "${command[@]}"

# bash completion for retry; made by: retry --completion bash

_retry() {
    local IFS=$' \t\n' line=$COMP_LINE rest flag='' i n=0 cur
    local -a words=() first=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i > 0)) && [[ $rest == "$line" ]]; then
            words[n - 1]+=${COMP_WORDS[i]}
        else
            words[n]=${COMP_WORDS[i]} first[n]=$i
            ((++n))
        fi
        line=${rest#"${COMP_WORDS[i]}"}
    done
    cur=${words[n - 1]}
    COMPREPLY=()
    for ((i = 1; i < n - 1; i++)); do
        case ${words[i]} in
            --) __retry_command "${first[i + 1]}"; return ;;
            @LONG@)
                flag=${words[i]}
                ((++i))
                ;;
            --*) ;;
            -*)
                if [[ ${words[i]} =~ ^-[@BOOL@]*([@VALUE@])$ ]]; then
                    flag=-${BASH_REMATCH[1]}
                    ((++i))
                fi
                ;;
            *) __retry_command "${first[i]}"; return ;;
        esac
    done
    ((i > n - 1)) || flag=
    if [[ $flag == "" && $cur == --*=* ]]; then
        flag=${cur%%=*} cur=${cur#*=}
    fi
    case $flag in
        "") ;;
@FLAGS@        *) return ;;
    esac
    if [[ $cur == -* ]]; then
        compopt -o nosort 2>/dev/null
        __retry_reply -W "@NAMES@"
    else
        __retry_command "${first[n - 1]}"
    fi
}

# __retry_reply offers what compgen finds.
__retry_reply() {
    local word
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(compgen "$@" -- "$cur")
}

# __retry_files offers files, by readline's own means where bash has them.
__retry_files() {
    compopt -o default 2>/dev/null || __retry_reply -f
}

# __retry_command completes the command that begins at word $1.
__retry_command() {
    local spec function
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
        return
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
        return
    elif (($1 == COMP_CWORD)); then
        __retry_reply -c
        return
    fi
    spec=$(complete -p -- "${COMP_WORDS[$1]##*/}" 2>/dev/null)
    if [[ $spec != *" -F "* ]]; then
        __retry_files
        return
    fi
    function=${spec#* -F }
    function=${function%% *}
    for ((i = 0; i < $1; i++)); do
        line=${COMP_LINE#"${COMP_WORDS[i]}"}
        line=${line#"${line%%[![:space:]]*}"}
        ((COMP_POINT -= ${#COMP_LINE} - ${#line}))
        COMP_LINE=$line
    done
    COMP_WORDS=("${COMP_WORDS[@]:$1}")
    ((COMP_CWORD -= $1))
    "$function" "${COMP_WORDS[0]}" "$cur" "${COMP_WORDS[COMP_CWORD - 1]}"
}

complete -F _retry retry

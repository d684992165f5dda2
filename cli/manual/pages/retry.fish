# fish completion for retry; made by: retry --completion fish

# __retry_command prints the command's words before the cursor. Its status is
# 1 while there are only flags, and 2 where a flag's value is due.
function __retry_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        set -l word $words[1]
        set -l due 1
        switch $word
            case --
                set -e words[1]
                string join \n -- $words
                return 0
            case @LONG@
                set due 2
            case '--*'
            case '-*'
                string match -qr -- '^-[@BOOL@]*[@VALUE@]$' $word; and set due 2
            case '*'
                string join \n -- $words
                return 0
        end
        if test $due = 2
            set -e words[1]
            set -q words[1]; or return 2
        end
        set -e words[1]
    end
    return 1
end

function __retry_in_flags
    not __retry_command >/dev/null
end

function __retry_complete_command
    set -l words (__retry_command)
    switch $status
        case 1
            string match -q -- '-*' (commandline -ct); and return
        case 2
            return
    end
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c retry -f
complete -c retry -x -a '(__retry_complete_command)'
@FLAGS@
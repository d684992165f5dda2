#compdef retry
# made by: retry --completion zsh

_retry() {
    _arguments -s -S : \
@FLAGS@        '(-)1: :_command_names -e' \
        '*:: :_normal -p retry'
}

if [[ $funcstack[1] == _retry ]]; then
    _retry "$@"
else
    compdef _retry retry
fi

package option

// This file runs a string by the system's shell.

// shellArgv is the command that has the shell run text, followed by args.
func shellArgv(text string, args []string) []string {
	return append([]string{"cmd", "/c", text}, args...)
}

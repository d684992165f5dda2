//go:build unix

package process

// This file finds a command as execvp(3) does.

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/exitcodes"
)

// defaultPath is where execvp looks when PATH is unset (confstr(3), _CS_PATH).
const defaultPath = "/bin:/usr/bin"

// shell runs an executable file that the kernel does not know how to run
// (POSIX, execvp: ENOEXEC).
const shell = "/bin/sh"

// Each calls start with every file that argv[0] may stand for, until start returns nil. It
// returns what execvp would: EACCES rather than ENOENT if a file was found that may not
// be executed.
func Each(argv []string, start func(path string, argv []string) error) error {
	try := func(path string) error {
		err := start(path, argv)
		if err == syscall.ENOEXEC {
			err = start(shell, append([]string{shell, path}, argv[1:]...))
		}
		return err
	}
	name := argv[0]
	if name == "" {
		return startError(exitcodes.NotFound, "%q: not found: the command's name is empty", name)
	}
	if strings.Contains(name, "/") {
		return describe(name, name, try(name))
	}
	path, set := os.LookupEnv("PATH")
	if !set {
		path = defaultPath
	}
	var denied error
	closed := "" // a directory that may not be searched
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "." // an empty element is the current directory (POSIX)
		}
		file := dir + "/" + name
		err := unix.Access(file, unix.X_OK)
		switch {
		case err == nil:
			err = try(file)
		case err != unix.EACCES:
			continue
		case unix.Access(dir, unix.X_OK) == unix.EACCES:
			closed = dir
			continue
		}
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EACCES) {
			return describe(name, file, err)
		}
		if denied == nil {
			denied = describe(name, file, err)
		}
	}
	switch {
	case denied != nil:
		return denied
	case closed != "":
		return startError(exitcodes.NotExecutable, "%q: not found in PATH, where %q may not be searched", name, closed)
	}
	return startError(exitcodes.NotFound, "%q: not found in PATH", name)
}

// describe puts what exec said about file into words and a code: 127 for what
// is not there, 126 for what cannot be executed, as POSIX and env(1) have it.
func describe(name, file string, err error) error {
	if err == nil {
		return err
	}
	info, statErr := os.Stat(file)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE),
		errors.Is(err, syscall.ENFILE):
		return startError(exitcodes.Failure, "%q: the system has no process to start it in: %w", name, err)
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		interpreter, hint := Interpreter(file), ""
		if hasCRLF(file) {
			hint = "; its lines end with CR LF; write: sed -i 's/\\r$//' " + file
		}
		if interpreter != "" {
			interpreter = strconv.Quote(interpreter) + " "
		}
		return startError(exitcodes.NotFound, "%q: its interpreter %swas not found%s", file, interpreter, hint)
	case errors.Is(err, syscall.ENOENT):
		return startError(exitcodes.NotFound, "%q: not found", name)
	case statErr == nil && info.IsDir():
		return startError(exitcodes.NotExecutable, "%q: is a directory", file)
	}
	return startError(exitcodes.NotExecutable, "%q: cannot be executed: %w", file, err)
}

// Interpreter returns the interpreter that a script names in its first line, ""
// if it is no script.
func Interpreter(file string) string {
	if fields := strings.Fields(string(firstLine(file))); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// hasCRLF reports whether the first line of a script ends as lines of Windows do: the kernel
// takes the CR for a part of the interpreter's name.
func hasCRLF(file string) bool { return bytes.HasSuffix(firstLine(file), []byte("\r")) }

// firstLine returns the first line of a script, behind "#!", nil if the file is no script.
func firstLine(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256) // the kernel reads no more (BINPRM_BUF_SIZE)
	n, _ := f.Read(head)
	line, script := bytes.CutPrefix(head[:n], []byte("#!"))
	if !script {
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return line
}

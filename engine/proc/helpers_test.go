//go:build unix

package proc

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/proc/process"
)

// limit bounds every wait of the tests, on a machine that is busy with others.
// If something must end within it, what would end by itself takes longer.
const limit = 2 * time.Minute

// eventually waits until what holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}

// word is a path as a word of a shell's script, also between quotes that are taken away
// before the shell reads it: a temporary directory may have a blank in its name.
func word(path string) string { return notPlain.ReplaceAllString(path, `\$0`) }

var notPlain = regexp.MustCompile(`[^\pL\pN/._-]`)

// readPid waits for a file that holds a pid in a line of its own.
func readPid(t *testing.T, file string) (pid int) {
	t.Helper()
	eventually(t, "a pid in "+file, func() bool {
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(text), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return pid
}

// lives reports whether a process is there and no zombie.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err)
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return !strings.HasPrefix(rest, " Z")
}

// within bounds the reading of a pipe.
func within(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
}

// killSession kills what is in the session of a driver.
func killSession(sid int) {
	list, _ := process.List()
	for _, p := range list {
		if p.Sid == sid {
			kill(p.Pid)
		}
	}
}

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

//go:build linux && amd64

package cli

// This file runs the Windows build under wine.

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/testdata/loopback"
)

// wine is a Windows with the program in it, as retry.exe, and testdata/wine, as
// command.exe, both in the directory where commands are run.
type wine struct {
	dir     string
	environ []string
	holders net.Listener // gets a connection of each "command hold"
}

func TestWindows(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	if _, err := exec.LookPath("wine"); err != nil {
		t.Skip("wine is not installed: the Windows build is not run")
	}
	if limit := openFiles(t); limit < wineFiles {
		t.Skipf("wine needs %d open files, and the limit is %d", wineFiles, limit)
	}
	w := newWine(t)
	for name, test := range map[string]func(*wine, *testing.T){
		"version":               (*wine).version,
		"exit codes":            (*wine).exitCodes,
		"words of the command":  (*wine).words,
		"words of a batch file": (*wine).batchWords,
		"not started":           (*wine).notStarted,
		"usage error":           (*wine).usageError,
		"shell":                 (*wine).shell,
		"timeout ends a tree":   (*wine).timeout,
		"deadline":              (*wine).deadline,
		"leftovers":             (*wine).leftovers,
		"killed":                (*wine).killed,
		"patterns":              (*wine).patterns,
		"hold":                  (*wine).hold,
		"hedge":                 (*wine).hedge,
		"reader gone":           (*wine).readerGone,
		"replay":                (*wine).replay,
		"null input":            (*wine).nullInput,
		"wait for":              (*wine).waitFor,
		"wait until the limit":  (*wine).waitUntilLimit,
		"json":                  (*wine).json,
		"status":                (*wine).status,
		"Ctrl-C":                (*wine).ctrlC,
		"Ctrl-C in a wait":      (*wine).ctrlCInAWait,
	} {
		t.Run(name, func(t *testing.T) {
			for tries := 3; !w.stands(t, test) && !t.Failed(); tries-- {
				if tries == 1 {
					t.Error("wine dies each time")
				}
				w.clear(t)
			}
		})
	}
}

// wineFiles is more than wine's server opens while it sets a prefix up; with 128 it waits
// for ever.
const wineFiles = 512

// died is what a check panics with when a process of wine was ended by a signal
// of the kernel's, which nothing that it runs can send: on a loaded machine its
// server may kill a process that is about to exit, or has just been made. The
// latter is an internal error to the process that makes it.
type died struct{ result }

// stands runs a test and reports whether wine has stood it.
func (w *wine) stands(t *testing.T, test func(*wine, *testing.T)) (stood bool) {
	defer func() {
		switch err := recover().(type) {
		case nil:
		case died:
			t.Logf("wine died under it: %+v", err.result)
		default:
			panic(err)
		}
	}()
	test(w, t)
	return true
}

// clear removes what a test made that wine has not stood, such as a log whose events the
// next try would take for its own.
func (w *wine) clear(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "retry.exe" && name != "command.exe" {
			if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// newWine builds what is to be run, and sets wine up: without a display, without anything
// that would ask for one, and without the registration of a hundred libraries that no
// program here asks for, which takes atl100.dll and half of the time.
func newWine(t *testing.T) *wine {
	t.Helper()
	w := &wine{dir: t.TempDir()}
	for target, source := range map[string]string{"retry.exe": "..", "command.exe": "./testdata/wine"} {
		if err := goBuild(filepath.Join(w.dir, target), source, "GOOS=windows", "GOARCH=amd64"); err != nil {
			t.Fatal(err)
		}
	}
	prefix := filepath.Join(t.TempDir(), "prefix")
	w.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "WINEPREFIX=" + prefix, "WINEARCH=win64",
		"WINEDEBUG=-all", "LC_ALL=C.UTF-8",
		"WINEDLLOVERRIDES=mscoree,mshtml,atl100,explorer.exe,winemenubuilder.exe=",
	}
	t.Cleanup(func() { _ = w.command(t, "wineserver", "-k", "-w").Run() })
	if out, err := w.command(t, "wineboot", "-i").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	system := filepath.Join(prefix, "drive_c", "windows", "system32")
	// Go needs it, and wine 8 lacks it.
	if library := filepath.Join(system, "bcryptprimitives.dll"); !exists(library) {
		if err := os.WriteFile(library,
			forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A program that runs all the time keeps the services that wine starts first.
	stays := w.command(t, "wine", "./command.exe", "cat")
	input, err := stays.StdinPipe()
	if err == nil {
		err = stays.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close(); _ = stays.Wait() })
	holders, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holders.Close() })
	w.holders = holders
	return w
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// forwarder is a DLL whose one function is another one's. It has a header and
// the export directory, and no code (Microsoft, PE Format, "The .edata Section",
// "Export Address Table": a forwarder's address is in the directory itself).
func forwarder(name, function, to string) []byte {
	const (
		headers, section = 0x200, 0x1000 // the sizes to which the file and memory are aligned
		names            = section + 40 + 4 + 4 + 2
	)
	nameAt := uint32(names)
	functionAt := nameAt + uint32(len(name)) + 1
	toAt := functionAt + uint32(len(function)) + 1
	size := toAt + uint32(len(to)) + 1 - section
	var out bytes.Buffer
	put := func(parts ...any) {
		for _, part := range parts {
			if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
				panic(err)
			}
		}
	}
	optional := pe.OptionalHeader64{
		Magic: 0x20b, SizeOfInitializedData: headers, ImageBase: 0x180000000, SectionAlignment: section,
		FileAlignment:               headers,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfImage: 2 * section, SizeOfHeaders: headers,
		Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16,
	}
	optional.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: section, Size: size}
	put([64]byte{0: 'M', 1: 'Z', 60: 64}, [4]byte{'P', 'E'}, pe.FileHeader{
		Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(optional)),
		Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
	}, optional, pe.SectionHeader32{
		Name: [8]uint8{'.', 'e', 'd', 'a', 't', 'a'}, VirtualSize: size, VirtualAddress: section,
		SizeOfRawData: headers, PointerToRawData: headers,
		Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ,
	})
	out.Write(make([]byte, headers-out.Len()))
	// The directory: flags, time, version, name, first ordinal, one function, one
	// name; then where the three tables are, and the tables.
	put([3]uint32{}, nameAt, [3]uint32{1, 1, 1}, [3]uint32{section + 40, section + 44, section + 48}, toAt,
		functionAt, uint16(0))
	out.WriteString(name + "\x00" + function + "\x00" + to + "\x00")
	out.Write(make([]byte, 2*headers-out.Len()))
	return out.Bytes()
}

// command is one of the programs that wine brings.
func (w *wine) command(t *testing.T, words ...string) *exec.Cmd {
	cmd := command(t, words...)
	cmd.Dir, cmd.Env = w.dir, slices.Clone(w.environ)
	return cmd
}

// run runs the program to its end.
func (w *wine) run(t *testing.T, words ...string) result {
	t.Helper()
	return w.finish(t, w.command(t, append([]string{"wine", "./retry.exe"}, words...)...))
}

func (w *wine) finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	// Not pipes: what the command leaves keeps the ends of those that wine has.
	var files [2]*os.File
	for i := range files {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		files[i] = file
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(files[0].Name())
	errs, err2 := os.ReadFile(files[1].Name())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), string(out), string(errs)}
}

// want checks a run: its code, all of its output, and parts of what it says.
func (got result) want(t *testing.T, code int, stdout string, says ...string) {
	t.Helper()
	got.check()
	lacks := slices.ContainsFunc(says, func(part string) bool { return !strings.Contains(got.stderr, part) })
	if got.code != code || got.stdout != stdout || lacks || strings.Contains(got.stderr, "goroutine") {
		t.Errorf("code %d, %q, %q; want %d, %q, %q", got.code, got.stdout, got.stderr, code, stdout, says)
	}
}

// check panics if there is nothing to check.
func (got result) check() {
	if got.code < 0 || strings.Contains(got.stderr, "cannot be executed: Internal error.") {
		panic(died{got})
	}
}

// holder is the next process that holds.
func (w *wine) holder(t *testing.T) net.Conn {
	t.Helper()
	_ = w.holders.(*net.TCPListener).SetDeadline(time.Now().Add(awaitLimit))
	conn, err := w.holders.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// lives reports whether a holder answers.
func lives(t *testing.T, holder net.Conn) bool {
	t.Helper()
	_ = holder.SetDeadline(time.Now().Add(awaitLimit))
	_, err := holder.Write([]byte{1})
	if err == nil {
		_, err = io.ReadFull(holder, make([]byte, 1))
	}
	return err == nil
}

// ended reports whether a holder ends without being asked for anything.
func ended(t *testing.T, holder net.Conn) bool {
	t.Helper()
	_ = holder.SetDeadline(time.Now().Add(awaitLimit))
	_, err := holder.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// noneLives checks that each holder that has come has ended. One that was ended
// early has not come at all.
func (w *wine) noneLives(t *testing.T) {
	t.Helper()
	for {
		_ = w.holders.(*net.TCPListener).SetDeadline(time.Now().Add(time.Millisecond))
		holder, err := w.holders.Accept()
		if err != nil {
			return
		}
		if !ended(t, holder) {
			t.Error("a process is alive that was to be ended")
		}
		_ = holder.Close()
	}
}

func (w *wine) version(t *testing.T) {
	got := w.run(t, "--version")
	got.check()
	if got.code != 0 || !strings.HasPrefix(got.stdout, "retry ") || !strings.HasSuffix(got.stdout, " windows/amd64\n") {
		t.Errorf("%+v", got)
	}
}

// The codes that a Unix parent sees have 8 bits, a Windows parent sees all 32.
func (w *wine) exitCodes(t *testing.T) {
	w.run(t, "--", "command", "exit", "0").want(t, 0, "")
	w.run(t, "-n", "2", "--base", "1ms", "--", "command.exe", "exit", "3").want(t, 3, "", "attempt 1 of 2 failed",
		"attempt 2 of 2 failed", "exit 3")
	w.run(t, "-n", "1", "--", "./command.exe", "exit", "255").want(t, 255, "", "exit 255")
	w.run(t, "-n", "3", "--stop-on-exit", "3", "--", "command", "exit", "3").want(t, 3, "",
		"failed with exit 3 and was not retried")
	w.run(t, "--success-on-exit", "3", "--", "command", "exit", "3").want(t, 0, "")
	for _, code := range []string{"0", "3", "1000", "3221225786"} {
		w.finish(t, w.command(t, "wine", "./command.exe", "parent", "./retry.exe", "-q", "-n", "1", "--", "command",
			"exit", code)).want(t, 0, code+"\n")
	}
}

func (w *wine) words(t *testing.T) {
	words := []string{"a b", `q"uote`, `back\`, `b\"`, "", "ü漢", "%PATH%", "tab\tx", "--attempts"}
	w.run(t, append([]string{"--", "command", "args"}, words...)...).want(t, 0, fmt.Sprintf("%q\n", words))
	w.run(t, "-n", "2", "--base", "1ms", "--", "command", "env", "RETRY_ATTEMPT", "env", "RETRY_MAX_ATTEMPTS", "exit",
		"1").want(t, 1, "1\n2\n2\n2\n")
}

// batchWords gives a batch file words that cmd.exe would read as commands: it gets them as
// they are, and nothing else runs. Wine's cmd.exe reads %NAME% once more when the batch file
// uses its words, unlike Windows: TestBatchLine holds how that is written.
func (w *wine) batchWords(t *testing.T) {
	for _, name := range []string{"pass.bat", "pass.cmd", "pass it.bat"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("@command.exe args %*\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := []string{"a&b", "a>b", "a|b", "a^b", "a b&c", "", "(x)", "a,b;c=d", "!PATH!", `back\`, "ü漢", "last"}
	w.run(t, append([]string{"-n", "1", "--", `.\pass.bat`}, words...)...).want(t, 0, fmt.Sprintf("%q\n", words))
	for _, word := range []string{`q"uote`, `"&calc.exe`, `b\"`} { // a Go program takes "" for the end of a quoted part
		w.run(t, "-n", "1", "--", `.\pass.cmd`, "first", word).want(t, 0, fmt.Sprintf("%q\n", []string{"first", word}))
	}
	w.run(t, "-n", "1", "--", `.\pass it.bat`, "a&b").want(t, 0, "[\"a&b\"]\n")
	w.run(t, "-n", "1", "--", `.\PASS`, `%X%&echo`, "a").want(t, 0, "[\"&echo\" \"a\"]\n")
	if _, err := os.Stat(filepath.Join(w.dir, "b")); err == nil {
		t.Error("a redirection was made")
	}
	w.run(t, "-n", "1", "--", `.\pass.bat`, "a\nb").want(t, 125, "", "cannot be given this word")
}

func (w *wine) notStarted(t *testing.T) {
	for _, name := range []string{"text.exe", "text.txt"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.run(t, "--", "./"+name).want(t, 126, "", "and was not retried", "cannot be executed")
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.run(t, "--", "./folder").want(t, 126, "", "is a directory")
	w.run(t, "--", "nothing").want(t, 127, "", `"nothing": not found in PATH`)
	w.run(t, "--", "./nothing.exe").want(t, 127, "", "not found")
}

func (w *wine) usageError(t *testing.T) {
	w.run(t, "--atempts", "3", "--", "command", "out", "started").want(t, 125, "", "--atempts", "--attempts")
	w.run(t, "-n", "x", "--", "command", "out", "started").want(t, 125, "", "-n", `"x"`)
	w.run(t).want(t, 125, "", "command")
}

func (w *wine) shell(t *testing.T) {
	w.run(t, "-n", "1", "-c", "echo %RETRY_ATTEMPT%& exit 5").want(t, 5, "1\r\n", "exit 5")
	w.run(t, "-c", `command args "a b" c& echo done`).want(t, 0, "[\"a b\" \"c\"]\ndone\r\n")
	w.run(t, "-n", "1", "--", "cmd", "/c", "exit 6").want(t, 6, "")
	script := "@echo off\r\necho [%1] [%2]\r\nexit /b 4\r\n"
	if err := os.WriteFile(filepath.Join(w.dir, "batch.bat"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(t, "-n", "1", "--", "./batch.bat", "a b", "c").want(t, 4, "[\"a b\"] [c]\r\n")
}

// A timeout ends the command and what it started, also what does not listen.
func (w *wine) timeout(t *testing.T) {
	at := w.holders.Addr().String()
	got := make(chan result, 1)
	go func() {
		got <- w.run(t, "-n", "1", "--timeout", "5s", "--kill-after", "100ms", "--", "command", "trap", "spawn",
			"hold", at, "spawn", "hold", at, "hold", at)
	}()
	tree := []net.Conn{w.holder(t), w.holder(t), w.holder(t)}
	(<-got).want(t, 124, "", "timed out")
	for i, holder := range tree {
		if !ended(t, holder) {
			t.Errorf("process %d is alive", i)
		}
	}
	w.run(t, "-n", "2", "--base", "1ms", "--timeout", "300ms", "--kill-after", "0", "--", "command", "hold",
		at).want(t, 124, "", "attempt 2 of 2")
	w.noneLives(t)
}

func (w *wine) deadline(t *testing.T) {
	got := w.run(t, "-n", "0", "--base", "10ms", "--deadline", "700ms", "--kill-after", "0", "--", "command", "hold",
		w.holders.Addr().String())
	got.want(t, 124, "", "deadline")
	w.noneLives(t)
}

// Processes that a command leaves stay alive, unless they are to be ended.
func (w *wine) leftovers(t *testing.T) {
	at := w.holders.Addr().String()
	w.run(t, "-n", "1", "--", "command", "spawn", "hold", at, "exit", "3").want(t, 3, "")
	left := w.holder(t)
	if !lives(t, left) {
		t.Error("what the command left was ended")
	}
	w.run(t, "-n", "1", "--kill-leftovers", "--kill-after", "0", "--", "command", "spawn", "hold", at, "spawn",
		"hold", at, "exit", "3").want(t, 3, "")
	w.noneLives(t)
	if !lives(t, left) {
		t.Error("what another run left was ended")
	}
}

// killed itself, the program takes its command along.
func (w *wine) killed(t *testing.T) {
	cmd := w.command(t, "wine", "./retry.exe", "--", "command", "hold", w.holders.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	holder := w.holder(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !ended(t, holder) {
		t.Error("the command is alive")
	}
}

func (w *wine) patterns(t *testing.T) {
	const text = "a\r\nxxy\r\nb\r\n"
	w.run(t, "--until-stdout", "^x+y$", "--", "command", "out", text).want(t, 0, text)
	w.run(t, "-n", "2", "--base", "1ms", "--until-stdout", "^z$", "--", "command", "out", text).want(t, 1, text+text,
		"no line matched")
	w.run(t, "-n", "2", "--base", "1ms", "--stop-on-stderr", "denied", "--", "command", "err", "access denied\r\n",
		"exit", "5").want(t, 5, "", "and was not retried", "denied")
	w.run(t, "-n", "1", "--fail-on-stdout", "b", "--", "command", "out", text).want(t, 1, text, "--fail-on-stdout")
}

func (w *wine) hold(t *testing.T) {
	w.run(t, "-n", "3", "--base", "1ms", "--stdout", "hold", "-c",
		"echo %RETRY_ATTEMPT%& if %RETRY_ATTEMPT%==3 (exit 0) else (exit 1)").
		want(t, 0, "3\r\n", "1\r\n", "2\r\n", "succeeded after 3 attempts")
	w.run(t, "-n", "1", "--stdout", "hold", "--stderr", "hold", "--", "command", "out", "lost", "err", "kept", "exit",
		"1").want(t, 1, "", "lost", "kept")
}

// A slow copy is overtaken: its whole tree is ended, and its output goes nowhere.
func (w *wine) hedge(t *testing.T) {
	at := w.holders.Addr().String()
	got := make(chan result, 1)
	go func() {
		got <- w.run(t, "--stdin", "null", "--hedge", "5s", "--kill-after", "100ms", "-c",
			"echo copy %RETRY_COPY%& if %RETRY_COPY%==0 (command spawn hold "+at+" hold "+at+") else (exit 0)")
	}()
	tree := []net.Conn{w.holder(t), w.holder(t)}
	(<-got).want(t, 0, "copy 1\r\n")
	for i, holder := range tree {
		if !ended(t, holder) {
			t.Errorf("process %d is alive", i)
		}
	}
	w.run(t, "-n", "1", "--stdin", "null", "--hedge", "1h", "--hedge-max", "2", "-c",
		"echo %RETRY_COPY%& exit 3").want(t, 3, "", "2\r\n", "exit 3")
	w.run(t, "-n", "2", "--base", "1ms", "--rotate", "M=a,b", "-c",
		"echo {M} %RETRY_USE_M%& if {M}==a (exit 1) else (exit 0)").want(t, 0, "a a\r\nb b\r\n",
		"succeeded after 2 attempts")
	w.noneLives(t)
}

// A reader that has gone ends the command, and nothing is said.
func (w *wine) readerGone(t *testing.T) {
	for _, words := range [][]string{
		{"--stdout", "hold", "--", "command", "out", "x"},
		{"--on-stdout", "never", "--", "command", "trap", "yes"},
	} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		cmd := w.command(t, append([]string{"wine", "./retry.exe"}, words...)...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = in, &errs
		_ = cmd.Run()
		_ = in.Close()
		got := result{cmd.ProcessState.ExitCode(), "", errs.String()}
		got.check()
		if got.code != 141 || strings.Contains(got.stderr, "retry:") {
			t.Errorf("%q: %+v", words, got)
		}
	}
}

func (w *wine) replay(t *testing.T) {
	words := []string{"wine", "./retry.exe", "-n", "3", "--base", "1ms", "--stdin", "replay", "--", "command", "cat",
		"exit", "1"}
	text := strings.Repeat("input\n", 20000)
	fromPipe := w.command(t, words...)
	fromPipe.Stdin = strings.NewReader(text)
	w.finish(t, fromPipe).want(t, 1, text+text+text)
	name := filepath.Join(w.dir, "input")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	fromFile := w.command(t, words...)
	fromFile.Stdin = file
	w.finish(t, fromFile).want(t, 1, text+text+text)
}

func (w *wine) nullInput(t *testing.T) {
	cmd := w.command(t, "wine", "./retry.exe", "--stdin", "null", "--", "command", "cat", "out", "end")
	cmd.Stdin = strings.NewReader("text")
	w.finish(t, cmd).want(t, 0, "end")
}

func (w *wine) waitFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	at := server.Listener.Addr().String()
	file := filepath.Join(w.dir, "ready")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.run(t, "--wait-for", "tcp://"+at, "--wait-for", server.URL, "--wait-for", "file:///Z:"+file,
		"--wait-for", "dns://localhost", "--wait-for", `exec:echo "a b"`, "--", "command", "out", "run")
	got.want(t, 0, "run", "tcp://"+at+" is ready", server.URL+" is ready", "file:///Z:"+file+" is ready",
		"dns://localhost is ready", "exec:")
}

func (w *wine) waitUntilLimit(t *testing.T) {
	free := loopback.Refusing(t)
	for span := 2 * time.Second; ; span = min(6*span, longestSpan) { // a busy machine takes longer to start a command
		got := w.run(t, "--wait-timeout", span.String(), "--base", "1s", "--cap", "1s", "--jitter", "none",
			"--wait-for", "tcp://"+free, "--wait-for", "file:///Z:/none", "--wait-for", `exec:echo "not yet"& exit 3`,
			"--", "command", "out", "run")
		if strings.Contains(got.stderr, `is not ready: "not yet"`) || span == longestSpan {
			got.want(t, 124, "", "tcp://"+free+" is not ready: connection refused",
				"file:///Z:/none is not ready: no such file", `is not ready: "not yet"`)
			return
		}
	}
}

func (w *wine) json(t *testing.T) {
	got := w.run(t, "-n", "2", "--base", "1ms", "--log-format", "json", "--log-file", "events", "--", "command",
		"exit", "5")
	got.want(t, 5, "", "attempt 2 of 2 failed")
	text, err := os.ReadFile(filepath.Join(w.dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for line := range strings.Lines(string(text)) {
		var event struct {
			Event    string
			ExitCode int `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if strings.HasSuffix(event.Event, "_finished") && event.ExitCode != 5 {
			t.Errorf("exit code %d: %s", event.ExitCode, line)
		}
		events = append(events, event.Event)
	}
	want := "run_started attempt_started attempt_finished retry_scheduled retry_waited attempt_started " +
		"attempt_finished run_finished"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// press runs the program on a console, and presses Ctrl-C there when it is time.
func (w *wine) press(t *testing.T, when func(), words ...string) result {
	t.Helper()
	cmd := w.command(t, append([]string{"wine", "./command.exe", "console", "./retry.exe"}, words...)...)
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan result, 1)
	go func() { done <- w.finish(t, cmd) }()
	when()
	if _, err := keys.Write([]byte{3}); err != nil {
		t.Error(err)
	}
	return <-done
}

// The program hands Ctrl-C on as Ctrl-Break, which wine cannot send: the command
// that cannot be asked is ended.
func (w *wine) ctrlC(t *testing.T) {
	var holder net.Conn
	got := w.press(t, func() { holder = w.holder(t) }, "-n", "3", "--", "command", "trap", "hold",
		w.holders.Addr().String())
	got.want(t, 130, "", "cancelled by SIGINT")
	if !ended(t, holder) {
		t.Error("the command is alive")
	}
}

// scheduled waits until a run that logs to a file waits.
func (w *wine) scheduled(t *testing.T, log string) {
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(filepath.Join(w.dir, log)); bytes.Contains(text, []byte("retry_scheduled")) {
			return
		}
	}
	t.Error("no wait has begun")
}

// status is that of a run, while it lives and when it was killed.
func (w *wine) status(t *testing.T) {
	cmd := w.command(t, "wine", "./retry.exe", "--base", "1h", "--jitter", "none", "--name", "job", "--log-file",
		"job.log", "--", "command", "exit", "4")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.scheduled(t, "job.log")
	shows := func(part string) {
		if got := w.run(t, "--status", "--log-format", "json"); got.code != 0 || !strings.Contains(got.stdout, part) {
			t.Errorf("code %d, %q, %q; want %q", got.code, got.stdout, got.stderr, part)
		}
	}
	shows(`"status":"waiting","attempt":1,`)
	w.run(t, "--cancel", "job").want(t, 1, "", "Windows has no signal")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	shows(`"status":"lost","attempt":1,`)
	w.run(t, "--status").want(t, 1, "")
}

func (w *wine) ctrlCInAWait(t *testing.T) {
	got := w.press(t, func() { w.scheduled(t, "log") }, "-n", "3", "--base", "1h", "--jitter", "none", "--log-file",
		"log", "--log-format", "json", "--", "command", "exit", "4")
	got.want(t, 130, "", "attempt 1 of 3 failed", "cancelled by SIGINT")
}

package cli

// This file runs the program where there is nothing but the program: a chroot
// with the static binary in it, in a network of its own that has loopback only.
// That is the layout of the Dockerfile in docs/containers.md, which is tried as
// well.

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// emptyImage is such a place.
type emptyImage struct {
	*testing.T
	root string
}

// TestEmptyImage builds the image once for all that is looked at in it.
func TestEmptyImage(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may chroot")
	}
	root := t.TempDir()
	copyProgram(t, filepath.Join(root, "retry"))
	t.Run("runs", func(t *testing.T) { (&emptyImage{t, root}).runs() })
	t.Run("connects", func(t *testing.T) { (&emptyImage{t, root}).connects() })
}

// result is what came of a run.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the program there. The binary is also the only command there is.
func (i *emptyImage) run(input string, environ []string, words ...string) result {
	i.Helper()
	cmd := command(i.T, append([]string{"/retry"}, words...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root}
	cmd.Dir, cmd.Env = "/", append([]string{"A=b"}, environ...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Start(); err != nil {
		i.Fatal(err)
	}
	if !end(cmd) {
		i.Errorf("%q hangs", words)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// want checks a run: its code, and a part of what it says on either stream.
func (i *emptyImage) want(got result, code int, stdout, stderr string) {
	i.Helper()
	if got.code != code || !strings.Contains(got.stdout, stdout) || !strings.Contains(got.stderr, stderr) ||
		strings.Contains(got.stderr, "goroutine") {
		i.Errorf("code %d, %q, %q; want %d, %q, %q", got.code, got.stdout, got.stderr, code, stdout, stderr)
	}
}

func (i *emptyImage) write(name, text string) {
	i.Helper()
	path := filepath.Join(i.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		i.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		i.Fatal(err)
	}
}

// It runs, holds output without /tmp, replays input without it, and says what
// the image lacks if that is needed.
func (i *emptyImage) runs() {
	version := i.run("", nil, "--version")
	i.want(version, 0, "retry ", "")
	i.want(i.run("", nil, "--", "/retry", "--version"), 0, version.stdout, "")
	i.want(i.run("", nil, "--wait-for", "file:///retry", "--exec", "--", "/retry", "--version"), 0, version.stdout,
		"is ready")
	i.want(i.run("", nil, "-n", "2", "--base", "1ms", "--stdout", "hold", "--stderr", "hold", "--", "/retry",
		"--nope"), 125, "", "unknown flag")
	i.want(i.run("", nil, "--stdout", "hold", "--", "/retry", "--version"), 0, version.stdout, "")
	i.want(i.run(strings.Repeat("x", 3<<20), nil, "--stdin", "replay", "--", "/retry", "--version"), 0,
		version.stdout, "")
	i.want(i.run("", nil, "-n", "1", "--timeout", "100ms", "--", "/retry", "--wait-for", "file:///no",
		"--wait-timeout", "0"), 124, "", "timed out")
	i.want(i.run("", nil, "--", "nothing"), 127, "", "not found in PATH")
	i.want(i.run("", nil, "--stdin", "null", "--", "/retry", "--version"), 125, "", "/dev/null")
	i.isNotReady("exec:true", "opening /dev/null: no such file")
	i.write("dev/null", "")
	i.isNotReady("exec:true", `"/bin/sh": not found`)
}

// isNotReady checks why a target is not ready. On a busy machine a longer wait finds it.
func (i *emptyImage) isNotReady(target, why string) {
	i.Helper()
	for span := 500 * time.Millisecond; ; span = min(6*span, longestSpan) {
		got := i.run("", nil, "--wait-for", target, "--wait-timeout", span.String())
		if strings.Contains(got.stderr, why) || span == longestSpan {
			i.want(got, 124, "", why)
			return
		}
	}
}

// It resolves names by itself and uses TLS, given the addresses of name
// servers and the certificates of authorities.
func (i *emptyImage) connects() {
	// The network is this thread's alone, and goes with it.
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := loopbackOnly(); err != nil {
			i.Log("not run, no network namespace is available: ", err)
			return
		}
		i.resolves()
		i.usesTLS()
		i.keepsDocumentation()
	}()
	<-done
}

// loopbackOnly moves the calling thread to a new network.
func loopbackOnly() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [unix.IFNAMSIZ]byte{'l', 'o'}, flags: unix.IFF_UP}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

func (i *emptyImage) resolves() {
	l, err := net.Listen("tcp", "127.0.0.1:80")
	if err != nil {
		i.Error(err)
		return
	}
	defer func() { _ = l.Close() }()
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		i.Error(err)
		return
	}
	defer func() { _ = names.Close() }()
	var asked atomic.Int32
	go serveNames(names, &asked)

	i.want(i.run("", nil, "--wait-for", "dns://localhost"), 0, "", "is ready")
	i.write("etc/resolv.conf", "nameserver 127.0.0.1\n")
	i.want(i.run("", nil, "--wait-for", "dns://db.example.", "--base", "1ms"), 0, "",
		"waiting for dns://db.example.: name does not resolve\n")
	i.want(i.run("", nil, "--wait-for", "tcp://db.example:80", "--exec", "--", "/retry", "--version"), 0, "retry ",
		"is ready")
	if n := asked.Load(); n < 3 {
		i.Errorf("the name server was asked %d times", n)
	}
	i.write("etc/hosts", "127.0.0.1 cache\n")
	i.want(i.run("", nil, "--wait-for", "tcp://cache:80"), 0, "", "is ready")
}

// serveNames answers questions for an IPv4 address: at first there is no such
// name, later it is 127.0.0.1 (RFC 1035, section 4).
func serveNames(conn net.PacketConn, asked *atomic.Int32) {
	const refused, answered, noName, typeA, header = 5, 0x8180, 3, 1, 12
	packet := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(packet)
		if err != nil {
			return
		}
		question := packet[header:n]
		size := bytes.IndexByte(question, 0) + 5 // the name, its type and its class
		reply := append([]byte(nil), packet[:header+size]...)
		flags, answers := uint16(answered), uint16(0)
		isA := binary.BigEndian.Uint16(question[size-4:]) == typeA
		switch {
		case !bytes.Contains(question, []byte("\x02db\x07example\x00")):
			flags |= refused
		case isA && asked.Add(1) <= 2, !isA && asked.Load() <= 2:
			flags |= noName
		case isA:
			answers = 1
			reply = append(reply, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
		}
		binary.BigEndian.PutUint16(reply[2:], flags)
		binary.BigEndian.PutUint16(reply[6:], answers)
		copy(reply[8:header], make([]byte, 4)) // nothing is said beyond the answer
		_, _ = conn.WriteTo(reply, from)
	}
}

func (i *emptyImage) usesTLS() {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		i.Error(err)
		return
	}
	_ = s.Listener.Close()
	s.Listener, s.Config.ErrorLog = l, nothing
	s.StartTLS()
	defer s.Close()
	i.isNotReady("https://127.0.0.1/", "no CA certificates found on this system (set SSL_CERT_FILE or add #insecure)")
	i.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	i.want(i.run("", []string{"SSL_CERT_FILE=/ca.pem"}, "--wait-for", "https://127.0.0.1/"), 0, "", "is ready")
	i.want(i.run("", nil, "--wait-for", "https://127.0.0.1/#insecure", "--exec", "--", "/retry", "--version"), 0,
		"retry ", "is ready")
}

var (
	dockerfile = regexp.MustCompile("(?s)```dockerfile\nFROM scratch\nCOPY retry server /\nENTRYPOINT (.*?)\n" +
		"CMD (.*?)\n```")
	podTargets = regexp.MustCompile(`name: RETRY_WAIT_FOR, value: (".*")}`)
)

// greetsAsPostgres answers each client as a PostgreSQL server that asks for a
// password (Frontend/Backend Protocol, AuthenticationCleartextPassword).
func greetsAsPostgres(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(awaitLimit))
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
			_, _ = io.Copy(io.Discard, conn)
		}()
	}
}

// keepsDocumentation starts what the Dockerfile of docs/containers.md starts, and
// what it says of targets in the environment. The server is the program again.
func (i *emptyImage) keepsDocumentation() {
	page, err := os.ReadFile(filepath.Join("..", "docs", "containers.md"))
	if err != nil {
		i.Error(err)
		return
	}
	text := string(page)
	image, pod := dockerfile.FindStringSubmatch(text), podTargets.FindStringSubmatch(text)
	if image == nil || pod == nil {
		i.Error("docs/containers.md has no Dockerfile or no pod")
		return
	}
	var entrypoint, command []string
	targets, err := strconv.Unquote(pod[1])
	if err := errors.Join(err, json.Unmarshal([]byte(image[1]), &entrypoint),
		json.Unmarshal([]byte(image[2]), &command)); err != nil {
		i.Error(err)
		return
	}
	if err := os.Link(filepath.Join(i.root, "retry"), filepath.Join(i.root, command[0])); err != nil {
		i.Error(err)
		return
	}
	i.write("etc/hosts", "127.0.0.1 db auth\n")
	db, err := net.Listen("tcp", "127.0.0.1:5432")
	if err != nil {
		i.Error(err)
		return
	}
	defer func() { _ = db.Close() }()
	go greetsAsPostgres(db)
	auth, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		i.Error(err)
		return
	}
	defer func() { _ = auth.Close() }()
	go func() { _ = http.Serve(auth, answers("503,200")) }() //nolint:gosec // no limits are needed here

	i.want(i.run("", nil, append(entrypoint[1:], command...)...), 125, "", "postgres://db:5432 is ready after")
	got := i.run("", []string{"RETRY_WAIT_FOR=" + targets}, "--exec", "--", command[0], "--version")
	i.want(got, 0, "retry ", "postgres://db:5432 is ready after")
	i.want(got, 0, "retry ", "http://auth:8080/health is ready after")
}

//go:build unix

package probe

// This file tries the probes of databases against the servers themselves, each
// started on a free port of loopback in a directory of its own.

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/loopback"
)

// realLimit bounds every wait for a real server.
const realLimit = patience

// program returns the path of a server's program, or skips the test by its
// name. Debian has some where no PATH leads.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range []string{"/usr/sbin/", "/usr/lib/postgresql/*/bin/", "/usr/local/sbin/"} {
		if found, _ := filepath.Glob(pattern + name); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// daemon is a real server and how it is started.
type daemon struct {
	dir  string
	port string
	user *syscall.SysProcAttr // PostgreSQL does not run as root
}

// newDaemon returns a directory for a server, which belongs to user nobody if
// the test runs as root, and a free port.
func newDaemon(t *testing.T) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &daemon{dir: dir, user: &syscall.SysProcAttr{Setsid: true}}
	if os.Geteuid() == 0 {
		const nobody = 65534
		d.user.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	_, d.port, _ = net.SplitHostPort(loopback.ForServer(t))
	return d
}

// command is a program that runs as the server does.
func (d *daemon) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = d.dir, d.user
	cmd.WaitDelay = realLimit
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+d.dir)
	return cmd
}

// run runs a program to its end.
func (d *daemon) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := d.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts a server and returns what ends it.
func (d *daemon) start(t *testing.T, name string, args ...string) (stop func(syscall.Signal)) {
	t.Helper()
	cmd := d.command(name, args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	stop = func(signal syscall.Signal) {
		_ = cmd.Process.Signal(signal)
		select {
		case <-ended:
		case <-time.After(realLimit):
			_ = cmd.Process.Kill()
			<-ended
			t.Errorf("%s did not end", name)
		}
	}
	t.Cleanup(func() {
		stop(syscall.SIGQUIT)
		if t.Failed() {
			t.Logf("%s\n%s", name, log.String())
		}
	})
	return stop
}

// until tries a target until it has the note, "" for ready. Every note before
// must be one of those that may come before.
func (d *daemon) until(t *testing.T, target, note string, before ...string) {
	t.Helper()
	d.untilOne(t, target, []string{note}, before...)
}

// untilOne is until for whichever of some notes comes first, which it returns.
func (d *daemon) untilOne(t *testing.T, target string, notes []string, before ...string) string {
	t.Helper()
	p := newProbe(t, strings.Replace(target, "PORT", d.port, 1))
	for end := time.Now().Add(realLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got := p.Run(t.Context(), attempt.Spec{})
		if slices.Contains(notes, got.Note) {
			if ready := got.ExitCode == 0; ready != (got.Note == "") {
				t.Fatalf("got %+v", got)
			}
			return got.Note
		}
		if !slices.Contains(before, got.Note) {
			t.Fatalf("%s: %+v before %q", target, got, notes)
		}
	}
	t.Fatalf("%s: never %q", target, notes)
	return ""
}

// occupy opens n connections that are accepted: each sends hello, reads one answer and stays open.
func (d *daemon) occupy(t *testing.T, n int, hello []byte) (free func()) {
	t.Helper()
	var all []net.Conn
	free = func() {
		for _, conn := range all {
			_ = conn.Close()
		}
	}
	t.Cleanup(free)
	for end := time.Now().Add(realLimit); len(all) < n; {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+d.port, realLimit)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
		_ = conn.SetDeadline(time.Now().Add(realLimit))
		if _, err := conn.Write(hello); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 1)
		if _, err := conn.Read(answer); err != nil || time.Now().After(end) {
			t.Fatal(err, "time limit of", realLimit)
		}
		// The server may still count the connection of the try before. Postgres
		// begins an error with E, Redis with a dash.
		if answer[0] == 'E' || answer[0] == '-' {
			all = all[:len(all)-1]
			_ = conn.Close()
		}
	}
	return free
}

func TestRealPostgres(t *testing.T) {
	t.Parallel()
	initdb, server := program(t, "initdb"), program(t, "postgres")
	d := newDaemon(t)
	data := filepath.Join(d.dir, "data")
	d.run(t, initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
	const target = "postgres://127.0.0.1:PORT"
	d.until(t, target, "connection refused")
	args := []string{
		"-D", data, "-p", d.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + d.dir, "-c",
		"fsync=off",
		"-c", "max_connections=5", "-c", "max_wal_senders=0", "-c", "superuser_reserved_connections=1",
	}
	stop := d.start(t, server, args...)
	const starting = "the database system is starting up"
	d.until(t, target, "", "connection refused", starting)
	d.until(t, "postgresql://unknown:secret@127.0.0.1:PORT/nothing", "")
	free := d.occupy(t, 5, postgresStartup("postgres", ""))
	d.until(t, target, "sorry, too many clients already")
	free()
	d.until(t, target, "", "sorry, too many clients already")
	stop(syscall.SIGINT)
	d.until(t, target, "connection refused")
	t.Run("pg_isready", func(t *testing.T) { d.agreesWithPgIsReady(t, server, args) })

	// It asks for a password, and refuses clients without TLS: the command handles
	// both.
	hba := filepath.Join(data, "pg_hba.conf")
	for _, rule := range []string{"host all all all scram-sha-256\n", "hostssl all all all trust\n"} {
		if err := os.WriteFile(hba, []byte(rule), 0o644); err != nil {
			t.Fatal(err)
		}
		stop = d.start(t, server, args...)
		d.until(t, target, "", "connection refused", starting)
		stop(syscall.SIGINT)
	}

	// A standby without reads never accepts clients.
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d.start(t, server, append(args, "-c", "hot_standby=off")...)
	d.until(t, target, "the database system is not accepting connections", "connection refused", starting)
}

func TestRealRedis(t *testing.T) {
	t.Parallel()
	server := program(t, "redis-server")
	d := newDaemon(t)
	const target = "redis://127.0.0.1:PORT"
	d.until(t, target, "connection refused")
	args := []string{"--port", d.port, "--bind", "127.0.0.1", "--dir", d.dir, "--save", "", "--daemonize", "no"}
	stop := d.start(t, server, append(args, "--maxclients", "3")...)
	d.until(t, target, "", "connection refused")
	free := d.occupy(t, 3, []byte(redisPing))
	d.until(t, target, "ERR max number of clients reached", "")
	free()
	d.until(t, target, "", "ERR max number of clients reached")
	stop(syscall.SIGTERM)

	// Its data take a while to load: each key half a millisecond.
	var commands bytes.Buffer
	for i := range 2000 {
		key := strconv.Itoa(i)
		commands.WriteString("SET " + key + " " + key + "\r\n")
	}
	stop = d.start(t, server, args...)
	d.until(t, target, "", "connection refused")
	commands.WriteString("SAVE\r\nPING\r\n")
	d.send(t, commands.String(), "+PONG\r\n")
	stop(syscall.SIGTERM)
	const loading = "LOADING Redis is loading the dataset in memory"
	var takesLong []string
	late.Retry(t, 500*time.Microsecond, func(each time.Duration) (slow bool) {
		takesLong = append(slices.Clone(args), "--key-load-delay", strconv.Itoa(int(each.Microseconds())),
			"--loading-process-events-interval-bytes", "1024")
		stop = d.start(t, server, takesLong...)
		slow = d.untilOne(t, target, []string{loading, ""}, "connection refused") == ""
		d.until(t, target, "", loading)
		stop(syscall.SIGTERM)
		return slow
	})

	// One with a password asks for it, whether it is loading or not.
	d.start(t, server, append(takesLong, "--requirepass", "secret")...)
	d.until(t, target, "", "connection refused")
}

// send sends commands and reads to the last answer.
func (d *daemon) send(t *testing.T, commands, last string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+d.port, realLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(realLimit))
	go func() { _, _ = io.WriteString(conn, commands) }()
	answer := ""
	for b := make([]byte, 4096); !strings.HasSuffix(answer, last); {
		n, err := conn.Read(b)
		if answer += string(b[:n]); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRealMariaDB(t *testing.T) {
	t.Parallel()
	install, server := program(t, "mariadb-install-db"), program(t, "mariadbd")
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("mariadb is not installed")
	}
	d := newDaemon(t)
	if strings.Contains(d.dir, " ") {
		t.Skipf("mariadb-install-db takes no path with blanks, as %q is", d.dir)
	}
	data, socket := filepath.Join(d.dir, "data"), filepath.Join(d.dir, "s")
	d.run(t, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	const target = "mysql://127.0.0.1:PORT"
	d.until(t, target, "connection refused")
	d.start(t, server, "--no-defaults", "--datadir="+data, "--socket="+socket, "--port="+d.port,
		"--bind-address=127.0.0.1",
		"--max-connections=10", "--innodb-flush-log-at-trx-commit=0")
	d.until(t, target, "", "connection refused")

	// A host is blocked after so many connections that ended without an answer
	// to the greeting. None of the probes' does.
	for range 20 {
		d.until(t, target, "")
	}
	query := d.command(client, "--no-defaults", "-uroot", "-S", socket, "-BNe",
		"show status like 'Aborted_connects_preauth'")
	out, err := query.CombinedOutput()
	if fields := strings.Fields(string(out)); err != nil || len(fields) != 2 || fields[1] != "0" {
		t.Errorf("%q, %v", out, err)
	}

	// One more than max_connections is for an administrator.
	free := d.occupy(t, 11, nil)
	d.until(t, target, "Too many connections", "")
	free()
	d.until(t, target, "", "Too many connections")
}

// The program that the database brings for the same question agrees.
func (d *daemon) agreesWithPgIsReady(t *testing.T, server string, args []string) {
	isReady := program(t, "pg_isready")
	agrees := func(code int) {
		t.Helper()
		err := d.command(isReady, "-h", "127.0.0.1", "-p", d.port).Run()
		exit, _ := errors.AsType[*exec.ExitError](err)
		if code == 0 && err != nil || code != 0 && (exit == nil || exit.ExitCode() != code) {
			t.Errorf("pg_isready says %v, want %d", err, code)
		}
	}
	agrees(2)
	stop := d.start(t, server, args...)
	d.until(t, "postgres://127.0.0.1:PORT", "", "connection refused", "the database system is starting up")
	agrees(0)
	// A smart shutdown waits for the clients that are connected, and refuses others.
	free := d.occupy(t, 1, postgresStartup("postgres", ""))
	go stop(syscall.SIGTERM)
	d.until(t, "postgres://127.0.0.1:PORT", "the database system is shutting down", "")
	agrees(1)
	free()
	d.until(t, "postgres://127.0.0.1:PORT", "connection refused", "the database system is shutting down",
		"connection reset", "closed without an answer")
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/retrysh/retry/testdata/loopback"
)

// collectMain runs a command beside what telemetry is sent to: a collector at
// $COLLECTOR, which appends path and body of each request to the file otlp, and
// StatsD servers at $STATSD and $STATSD_UNIX, whose lines are in the file statsd
// once the command has ended. Words before "--" are the status that the collector
// answers with.
func collectMain() {
	args, status := os.Args[1:], http.StatusOK
	if args[0] != "--" {
		if _, err := fmt.Sscan(args[0], &status); err != nil {
			collectFailed(err)
		}
		args = args[1:]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		collectFailed(err)
	}
	otlp, err := os.OpenFile("otlp", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		collectFailed(err)
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(otlp, "%s %s\n", r.URL.Path, body)
			w.WriteHeader(status)
		}))
	}()
	dir, err := loopback.SocketDir("collect")
	if err != nil {
		collectFailed(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		collectFailed(err)
	}
	env := append(os.Environ(), "COLLECTOR=http://"+listener.Addr().String(), "STATSD="+udp.LocalAddr().String())
	servers := []net.PacketConn{udp}
	if unix, err := net.ListenPacket("unixgram", filepath.Join(dir, "statsd")); err == nil {
		servers, env = append(servers, unix), append(env, "STATSD_UNIX=unix://"+filepath.Join(dir, "statsd"))
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	err = cmd.Run()
	drain(servers)
	_ = os.RemoveAll(dir)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		collectFailed(err)
	}
}

// drained is the last datagram that a server gets. On loopback it comes behind all that
// have been sent.
const drained = "\x00drained"

// drain writes what has arrived.
func drain(servers []net.PacketConn) {
	file, err := os.OpenFile("statsd", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		collectFailed(err)
	}
	buffer := make([]byte, 1<<16)
	for _, server := range servers {
		conn, err := net.Dial(server.LocalAddr().Network(), server.LocalAddr().String())
		if err == nil {
			_, err = io.WriteString(conn, drained)
		}
		for err == nil {
			var n int
			if n, _, err = server.ReadFrom(buffer); err == nil && string(buffer[:n]) == drained {
				break
			}
			fmt.Fprintf(file, "%s\n", buffer[:n])
		}
		if err != nil {
			collectFailed(err)
		}
	}
}

func collectFailed(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

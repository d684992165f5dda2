package cli

// This file is the other side of the scripts on stores:
//
//	redis FLAG... -- CMD ARG...
//
// runs CMD beside a redis-server, and exits with its code. REDIS is its address
// for --store, REDIS_SOCKET its socket and REDIS_PID its process.

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/testdata/loopback"
)

func redisMain() {
	end := slices.Index(os.Args, "--")
	if end < 1 || end+1 == len(os.Args) {
		peerNeeds(errors.New("usage: redis FLAG... -- CMD ARG..."))
	}
	dir, err := loopback.SocketDir("redis")
	peerNeeds(err)
	socket := filepath.Join(dir, "s")
	flags := append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--loglevel", "warning"},
		os.Args[1:end]...)
	server := exec.Command("redis-server", flags...)
	peerNeeds(server.Start())
	peerNeeds(listening(socket))
	for name, value := range map[string]string{
		"REDIS": "redis+unix://" + socket, "REDIS_SOCKET": socket, "REDIS_PID": strconv.Itoa(server.Process.Pid),
	} {
		peerNeeds(os.Setenv(name, value))
	}
	code := runBeside(os.Args[end+1:])
	_ = server.Process.Kill()
	_ = server.Wait()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// listening waits until a process accepts on a socket.
func listening(socket string) error {
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("no process listens on %s", socket)
}

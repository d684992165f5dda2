package cli

// This file is the other side of the scripts on --wait-for: servers on loopback
// that live as long as a command.
//
//	peers NAME=KIND... -- CMD ARG...
//
// runs CMD with {NAME} in its words replaced by the address of a peer, and exits
// with its code, or 128+n if a signal ended it. Kinds:
//
//	tcp, tcp6        accepts and closes
//	refuse           a port without a listener
//	hole             a port that neither accepts nor refuses (Linux)
//	silent           accepts, and says nothing
//	half             accepts, begins an answer, and says no more
//	late:FILE        refuses until FILE exists, then accepts
//	http:CODE,...    answers with these statuses in turn, the last repeated, and
//	                 the body "status CODE"; a redirect leads to a 200
//	https:CODE,...   the same by TLS; writes its certificate to NAME.pem
//	tls:SOCKET       passes on to a socket what comes by TLS; writes its certificate to NAME.pem
//	mutual           TLS for clients with a certificate alone; writes its own to NAME.pem
//	unix             a socket; its address is a path
//	asked:LINE       answers 200 if the request has that line, or else 404
//	web:CODE,...     http on a socket; its address is a path
//	postgres:ANSWER,...
//	redis:ANSWER,...
//	mysql:ANSWER,... a database that answers a client's greeting in these ways in
//	                 turn, the last repeated: ready, password, starting, full
//	                 (no connection is left), garbage

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/retrysh/retry/exitcodes"
	"github.com/retrysh/retry/testdata/loopback"
)

func peersMain() {
	address := map[string]string{}
	words := os.Args[1:]
	for len(words) > 0 && words[0] != "--" {
		name, kind, _ := strings.Cut(words[0], "=")
		kind, detail, _ := strings.Cut(kind, ":")
		open := peerKinds[kind]
		if open == nil {
			peerNeeds(fmt.Errorf("no kind of peer: %q", words[0]))
		}
		at, err := open(name, detail)
		peerNeeds(err)
		address["{"+name+"}"] = at
		words = words[1:]
	}
	if len(words) < 2 {
		peerNeeds(errors.New("usage: peers NAME=KIND... -- CMD ARG..."))
	}
	var command []string
	for _, word := range words[1:] {
		for name, at := range address {
			word = strings.ReplaceAll(word, name, at)
		}
		command = append(command, word)
	}
	os.Exit(runBeside(command))
}

// runBeside runs a command that is ended if it hangs. What asks this program to end
// is for the command.
func runBeside(command []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), awaitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	peerNeeds(cmd.Start())
	go func() {
		for sig := range asked {
			_ = cmd.Process.Signal(sig)
		}
	}()
	_ = cmd.Wait()
	if how, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return exitcodes.OfSignal(int(how.Signal()))
	}
	return cmd.ProcessState.ExitCode()
}

func peerNeeds(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(exitcodes.Failure)
	}
}

// peerKinds open a peer and return its address.
var peerKinds = map[string]func(name, detail string) (string, error){
	"tcp":    func(string, string) (string, error) { return listenAt("tcp", "127.0.0.1:0", hangUp) },
	"tcp6":   func(string, string) (string, error) { return listenAt("tcp", "[::1]:0", hangUp) },
	"silent": func(string, string) (string, error) { return listenAt("tcp", "127.0.0.1:0", holdOn) },
	"half": func(string, string) (string, error) {
		return listenAt("tcp", "127.0.0.1:0", func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-")
			holdOn(conn)
		})
	},
	"refuse": func(string, string) (string, error) {
		at, _, _, err := loopback.Bind()
		return at, err
	},
	"hole": func(string, string) (string, error) { return blackHole() },
	"late": func(_, file string) (string, error) {
		at, _, free, err := loopback.Bind()
		go func() {
			for {
				if _, err := os.Stat(file); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			peerNeeds(free())
			_, err := listenAt("tcp", at, hangUp)
			peerNeeds(err)
		}()
		return at, err
	},
	"http": func(_, codes string) (string, error) {
		return httptest.NewServer(answers(codes)).Listener.Addr().String(), nil
	},
	"https": secureServer,
	"unix": func(name, _ string) (string, error) {
		path, err := filepath.Abs(name + ".sock")
		if err != nil {
			return "", err
		}
		_ = os.Remove(path) // of the peer before, which had to go without tidying up
		return listenAt("unix", path, hangUp)
	},
	"tls": func(name, socket string) (string, error) {
		return secured(name, tls.NoClientCert, func(conn net.Conn) { passOn(conn, socket) })
	},
	"mutual": func(name, _ string) (string, error) {
		return secured(name, tls.RequireAnyClientCert, func(conn net.Conn) {
			secure := conn.(*tls.Conn)
			_ = secure.Handshake()
			holdOn(secure.NetConn()) // a close before what came is read would lose the alert
		})
	},
	"asked": func(_, line string) (string, error) {
		return listenAt("tcp", "127.0.0.1:0", func(conn net.Conn) { answerAsked(conn, line) })
	},
	"web": func(name, codes string) (string, error) {
		path, err := filepath.Abs(name + ".sock")
		if err != nil {
			return "", err
		}
		_ = os.Remove(path)
		l, err := net.Listen("unix", path)
		if err == nil {
			go func() { _ = http.Serve(l, answers(codes)) }()
		}
		return path, err
	},
	"postgres": func(_, answers string) (string, error) { return database("postgres", answers) },
	"redis":    func(_, answers string) (string, error) { return database("redis", answers) },
	"mysql":    func(_, answers string) (string, error) { return database("mysql", answers) },
}

// answerAsked answers one request by whether a line stands in it.
func answerAsked(conn net.Conn, line string) {
	defer hangUp(conn)
	status := "404 Not Found"
	for r := bufio.NewReader(conn); ; {
		got, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch strings.TrimRight(got, "\r\n") {
		case line:
			status = "200 OK"
		case "":
			_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nConnection: close\r\n\r\n")
			return
		}
	}
}

// databaseAnswers are what databases answer to a client's greeting; MySQL sends its own
// first.
var databaseAnswers = map[string]string{
	"postgres/ready":    "R\x00\x00\x00\x08\x00\x00\x00\x00",
	"postgres/password": "R\x00\x00\x00\x0c\x00\x00\x00\x05salt",
	"postgres/starting": "E\x00\x00\x00\x30SFATAL\x00C57P03\x00Mthe database is starting up\x00\x00",
	"postgres/full":     "E\x00\x00\x00\x25SFATAL\x00C53300\x00Mtoo many clients\x00\x00",
	"redis/ready":       "+PONG\r\n",
	"redis/password":    "-NOAUTH Authentication required.\r\n",
	"redis/starting":    "-LOADING Redis is loading the dataset in memory\r\n",
	"redis/full":        "-ERR max number of clients reached\r\n",
	"mysql/ready":       "\x06\x00\x00\x00\n8.0\x00\x00",
	"mysql/password":    "\x06\x00\x00\x00\n8.0\x00\x00",
	"mysql/starting":    "\x1e\x00\x00\x00\xff\x1d\x04Server shutdown in progress",
	"mysql/full":        "\x17\x00\x00\x00\xff\x10\x04Too many connections",
	"postgres/garbage":  "SSH-2.0-OpenSSH\r\n",
	"redis/garbage":     "SSH-2.0-OpenSSH\r\n",
	"mysql/garbage":     "SSH-2.0-OpenSSH\r\n",
}

// database answers as the list says, one connection after another.
func database(kind, list string) (string, error) {
	var asked atomic.Int32
	words := strings.Split(list, ",")
	for _, word := range words {
		if databaseAnswers[kind+"/"+word] == "" {
			return "", fmt.Errorf("a %s peer has no answer %q", kind, word)
		}
	}
	return listenAt("tcp", "127.0.0.1:0", func(conn net.Conn) {
		if kind != "mysql" {
			_, _ = conn.Read(make([]byte, 4096))
		}
		n := min(int(asked.Add(1)), len(words))
		_, _ = io.WriteString(conn, databaseAnswers[kind+"/"+words[n-1]])
		holdOn(conn)
	})
}

func listenAt(network, address string, serve func(net.Conn)) (string, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String(), nil
}

func hangUp(conn net.Conn) { _ = conn.Close() }

// holdOn keeps a connection until the other side closes it.
func holdOn(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// blackHole returns a port whose queue is full, as behind a firewall that drops
// what comes.
func blackHole() (string, error) {
	at, listen, _, err := loopback.Bind()
	if err == nil {
		err = listen()
	}
	if err != nil {
		return "", err
	}
	// One that ran into its limit may have been late itself: its queue had room.
	for timeouts := 0; len(queued) < 10; {
		conn, err := net.DialTimeout("tcp", at, 100*time.Millisecond)
		late, ok := errors.AsType[net.Error](err)
		switch {
		case err == nil:
			queued = append(queued, conn)
			timeouts = 0
		case !ok || !late.Timeout():
			return "", err
		case timeouts == 2:
			return at, nil
		default:
			timeouts++
		}
	}
	return "", errors.New("this kernel's queues do not fill up")
}

// queued are the connections that fill a queue; one that is collected is
// closed.
var queued []net.Conn

// answers gives the statuses one by one.
func answers(codes string) http.Handler {
	list := strings.Split(codes, ",")
	var asked atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := min(int(asked.Add(1)), len(list))
		code, err := strconv.Atoi(list[n-1])
		if err != nil || r.URL.Path == "/elsewhere" {
			code = http.StatusOK
		}
		if code/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
		fmt.Fprintln(w, "status", code)
	})
}

func secureServer(name, codes string) (string, error) {
	s := httptest.NewUnstartedServer(answers(codes))
	s.Config.ErrorLog = nothing
	s.StartTLS()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s.Listener.Addr().String(), os.WriteFile(name+".pem", certificate, 0o600)
}

// secured serves connections by TLS.
func secured(name string, clients tls.ClientAuthType, serve func(net.Conn)) (string, error) {
	s := httptest.NewTLSServer(nil) // it has a certificate for 127.0.0.1
	s.Close()
	config := &tls.Config{Certificates: s.TLS.Certificates, ClientAuth: clients, MinVersion: tls.VersionTLS13}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(name+".pem", certificate, 0o600); err != nil {
		return "", err
	}
	return listenAt("tcp", "127.0.0.1:0", func(conn net.Conn) { serve(tls.Server(conn, config)) })
}

// passOn moves bytes between a connection and a socket.
func passOn(conn net.Conn, socket string) {
	defer hangUp(conn)
	to, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(to, conn) }()
	_, _ = io.Copy(conn, to)
}

// nothing is the log of a server whose certificate is there to be refused.
var nothing = log.New(io.Discard, "", 0)

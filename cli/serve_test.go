package cli

// This file is the scripts' web server, which asks its clients to wait.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// serveMain runs a command beside a web server on loopback:
//
//	serve ANSWER... -- COMMAND [ARG...]
//
// {url} in the command's words is the server's address. Each ANSWER is a status
// code and headers after bars, as in '429|Retry-After: 1'; the requests get
// them in turn, and the last one again and again. The exit code is the
// command's, or 99 if a request came earlier than a Retry-After had asked for.
func serveMain() {
	split := slices.Index(os.Args, "--")
	if split < 2 || split+1 == len(os.Args) {
		fmt.Fprintln(os.Stderr, "usage: serve ANSWER... -- COMMAND [ARG...]")
		os.Exit(125)
	}
	s := &server{answers: os.Args[1:split]}
	listener := httptest.NewServer(s)
	var words []string
	for _, word := range os.Args[split+1:] {
		words = append(words, strings.ReplaceAll(word, "{url}", listener.URL))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	listener.Close()
	switch {
	case s.early:
		fmt.Fprintln(os.Stderr, "serve: a request came earlier than Retry-After allowed")
		os.Exit(99)
	case cmd.ProcessState == nil:
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(127)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

type server struct {
	mu      sync.Mutex
	answers []string
	// notBefore is when the next request may come, early whether one came
	// before that.
	notBefore time.Time
	early     bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = s.early || time.Now().Before(s.notBefore)
	answer := strings.Split(s.answers[0], "|")
	s.answers = s.answers[min(1, len(s.answers)-1):]
	for _, header := range answer[1:] {
		name, value, _ := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		w.Header().Set(name, value)
		if seconds, err := strconv.Atoi(value); err == nil && http.CanonicalHeaderKey(name) == "Retry-After" {
			s.notBefore = time.Now().Add(time.Duration(seconds) * time.Second)
		}
	}
	code, err := strconv.Atoi(answer[0])
	if err != nil {
		code = http.StatusNotImplemented
	}
	w.WriteHeader(code)
	fmt.Fprintln(w, http.StatusText(code))
}

// Command flakyserver runs a command against a web server that answers 503
// twice and then 200, so that the README's first example is real:
//
//	go run ./testdata/flakyserver retry -- curl -fsS {url}
//
// {url} in the command's words becomes the server's address. It exits with the
// command's code.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: flakyserver COMMAND [ARG...], with {url} for the address")
		os.Exit(125)
	}
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) <= 2 {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "hello")
	}))
	var words []string
	for _, word := range os.Args[1:] {
		words = append(words, strings.ReplaceAll(word, "{url}", server.URL))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	server.Close()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "flakyserver:", err)
		os.Exit(127)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

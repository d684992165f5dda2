package probe

// Peers that misbehave: each answers a connection in its own way.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/late"
)

// peer hands every connection, once its request has been read up to the empty
// line, to answer, and closes it then. It returns the address.
func peer(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l := listen(t, "tcp", "127.0.0.1:0")
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				request := ""
				for b := make([]byte, 4096); !strings.HasSuffix(request, "\r\n\r\n"); {
					n, err := conn.Read(b)
					if request += string(b[:n]); err != nil {
						return
					}
				}
				answer(conn)
			}()
		}
	}()
	return l.Addr().String()
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer, options string
		code                  int
		note                  string
	}{
		{"nothing", "", "", 1, "closed without an answer"},
		{"a part of a version", "HTT", "", 1, "answer is not HTTP/1"},
		{"a part of a status line", "HTTP/1.1 200", "", 1, "closed before the end of its answer"},
		{"no empty line", "HTTP/1.1 200 OK\r\nA: b\r\n", "", 1, "closed before the end of its answer"},
		{"HTTP/1.0", "HTTP/1.0 204 No Content\r\n\r\n", "", 0, ""},
		{"no reason", "HTTP/1.1 200\r\n\r\n", "", 0, ""},
		{"bare line feeds", "HTTP/1.1 200 OK\nA: b\n\n", "", 0, ""},
		{"a folded header", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "", 0, ""},
		{"interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 " +
			"500 No\r\n\r\n", "", 1, "status 500"},
		{"an interim answer only", "HTTP/1.1 100 Continue\r\n\r\n", "", 1, "closed before the end of its answer"},
		{"a switch that was not requested", "HTTP/1.1 101 Switching\r\n\r\n", "", 1, "status 101"},
		{"HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "", 1, "answer is not HTTP/1"},
		{"HTTP/2 as text", "HTTP/2 200\r\n\r\n", "", 1, "answer is not HTTP/1"},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", "", 1, "answer is not HTTP/1"},
		{"a TLS alert", "\x15\x03\x01\x00\x02\x02\x16", "", 1, "answer is not HTTP/1"},
		{"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "", 1, "answer is not HTTP/1"},
		{"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "", 1, "answer is not HTTP/1"},
		{"a signed status", "HTTP/1.1 +20 OK\r\n\r\n", "", 1, "answer is not HTTP/1"},
		{"a header without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "", 1, "answer has a malformed header"},
		{"a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "", 1, "answer has a malformed header"},
		{"headers without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 20000), "", 1,
			"answer has more than 64 KiB of headers"},
		{"a header without end", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 100000), "", 1,
			"answer has more than 64 KiB of headers"},
		{"interim answers without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 10000), "", 1,
			"answer has more than 64 KiB of headers"},

		{"a body of known length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay", "#body=^ok$", 0, ""},
		{"a body cut short", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "#body=ok", 1,
			"closed before the end of its answer"},
		{"a body to the end", "HTTP/1.1 200 OK\r\n\r\nok", "#body=^ok$", 0, ""},
		{"no body", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok", "#body=.", 1, "body does not match"},
		{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok", "#body=ok",
			0, ""},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "#body=ok", 1,
			"answer has a malformed header"},
		{"a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", "#body=ok", 1,
			"answer has a malformed header"},
		{"no length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok", "#body=ok", 1, "answer has a malformed header"},
		{"a length of 40 digits", "HTTP/1.1 200 OK\r\nContent-Length: " + strings.Repeat("9", 40) + "\r\n\r\nok",
			"#body=ok", 1, "answer has a malformed header"},
		{"a bad length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok", "", 1, "answer has a malformed header"},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\no\r\n01 \r\nk\r\n0\r\n\r\n",
			"#body=^ok$", 0, ""},
		{"chunks beat a length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: Chunked\r\n\r\n" +
			"2\r\nok\r\n0\r\n\r\n", "#body=^ok$", 0, ""},
		{"a chunk cut short", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok", "#body=ok", 1,
			"closed before the end of its answer"},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "#body=ok", 1,
			"closed before the end of its answer"},
		{"a chunk that is longer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n",
			"#body=ok", 1, "answer has a malformed body"},
		{"a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\nok", "#body=ok", 1,
			"answer has a malformed body"},
		{"a chunk of a negative size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nok", "#body=ok", 1,
			"answer has a malformed body"},
		{"a chunk of an absurd size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok",
			"#body=ok", 1, "answer has a malformed body"},
		{"a chunk's line without end",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 10000), "#body=ok", 1,
			"answer has a malformed body"},
		{"another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "#body=ok", 1,
			"answer has a malformed header"},
		{"two codings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			"#body=ok", 1, "answer has a malformed header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := peer(t, func(conn net.Conn) { _, _ = io.WriteString(conn, c.answer) })
			want(t, once(t, "http://"+address+"/"+c.options), c.code, c.note)
		})
	}
}

// A body is read up to 1 MiB, however it is framed.
func TestLongBody(t *testing.T) {
	t.Parallel()
	block := strings.Repeat("x", 64<<10)
	for name, c := range map[string]struct {
		head  string
		frame func(w io.Writer) error
	}{
		"length": {"Content-Length: 99999999",
			func(w io.Writer) error { _, err := io.WriteString(w, block); return err }},
		"end": {"A: b", func(w io.Writer) error { _, err := io.WriteString(w, block); return err }},
		"chunks": {"Transfer-Encoding: chunked",
			func(w io.Writer) error { _, err := fmt.Fprintf(w, "%x\r\n%s\r\n", len(block), block); return err }},
		"chunk": {"Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx\r\nx: y",
			func(w io.Writer) error { _, err := io.WriteString(w, block); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := peer(t, func(conn net.Conn) {
				_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+c.head+"\r\n\r\n")
				for err == nil {
					err = c.frame(conn)
				}
			})
			want(t, once(t, "http://"+address+"/#body=x"), 0, "")
			want(t, once(t, "http://"+address+"/#body=z"), 1, "body does not match in its first MiB")
		})
	}
}

// drip writes s, then one byte after another for as long as the peer takes it.
func drip(s, forever string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := io.WriteString(conn, s)
		for tick := time.NewTicker(5 * time.Millisecond); err == nil; <-tick.C {
			_, err = io.WriteString(conn, forever)
		}
	}
}

// A peer that keeps talking without ever coming to an end does not hold a try.
func TestDrippingPeer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ head, forever, options, missing string }{
		{"HTTP/1.1 ", "2", "", "no answer"},
		{"HTTP/1.1 200 ", "O", "", "no answer"},
		{"HTTP/1.1 200 OK\r\n", "A: b\r\n", "", "no answer"},
		{"", "HTTP/1.1 100 Wait\r\n\r\n", "", "no answer"},
		{"HTTP/1.1 200 OK\r\n\r\n", "x", "#body=x", "no complete answer"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "#body=x", "no complete answer"},
	} {
		t.Run(c.head+c.forever, func(t *testing.T) {
			t.Parallel()
			p := newProbe(t, "http://"+peer(t, drip(c.head, c.forever))+"/"+c.options)
			wantLate(t, p, c.missing+" within %v", within)
		})
	}
}

func TestResetPeer(t *testing.T) {
	t.Parallel()
	address := peer(t, func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) })
	want(t, once(t, "http://"+address), 1, "connection reset")
	l := listen(t, "tcp", "127.0.0.1:0")
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	got := once(t, "https://"+l.Addr().String())
	if got.ExitCode != 1 || got.Note != "closed during the TLS handshake" && got.Note != "connection reset" {
		t.Errorf("got %+v", got)
	}
}

// A peer may answer and close without reading the request.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 429 Later\r\n\r\n")
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	want(t, once(t, "http://"+l.Addr().String()), 1, "status 429")
	want(t, once(t, "http://"+l.Addr().String()+"#header=X: "+strings.Repeat("x", 12<<10)), 1, "status 429")
}

// A cancelled try ends at once, wherever it is.
func TestCancel(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	address := peer(t, func(conn net.Conn) {
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
	})
	p := newProbe(t, "http://"+address)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled time.Time
		go func() {
			<-asked
			cancelled = time.Now()
			cancel()
		}()
		got := p.Run(ctx, attempt.Spec{})
		took := time.Since(cancelled)
		want(t, got, 1, "interrupted")
		if took > patience/2 { // it would end by itself after twice as long
			t.Errorf("ended %v after the cancel", took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want(t, p.Run(ctx, attempt.Spec{}), 1, "interrupted")
}

// The same in the middle of a TLS handshake, and of a question for a name.
func TestCancelEarly(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	asked := make(chan struct{}, 10)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 1))
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
	handshake := newProbe(t, "https://"+l.Addr().String())
	names := newNameServer(t, silence)
	names.notify(asked)
	name := newProbe(t, "dns://db.example.")
	name.resolver = resolver(names)
	for _, p := range []*Probe{handshake, name} {
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled time.Time
		go func() {
			<-asked
			cancelled = time.Now()
			cancel()
		}()
		want(t, p.Run(ctx, attempt.Spec{}), 1, "interrupted")
		if took := time.Since(cancelled); took > patience/2 {
			t.Errorf("%s ended %v after the cancel", p.target, took)
		}
	}
}

// What the deadline cut short says nothing new, so the last known error stays.
func TestNoteRemainsAfterDeadline(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var asked atomic.Int32
	address := peer(t, func(conn net.Conn) {
		if asked.Add(1) == 1 {
			_, _ = io.WriteString(conn, "HTTP/1.1 503 Down\r\n\r\n")
			return
		}
		<-stop
	})
	defer close(stop)
	p := newProbe(t, "http://"+address)
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "status 503")
	got := p.Run(t.Context(), attempt.Spec{Deadline: time.Now().Add(20 * time.Millisecond)})
	want(t, got, 124, "status 503")
	if !got.DeadlinePassed {
		t.Errorf("got %+v", got)
	}
	want(t, p.Run(t.Context(), attempt.Spec{Deadline: time.Now().Add(-time.Second)}), 124, "status 503")
	wantLate(t, newProbe(t, "http://"+address), "no answer in time", before)
	// A deadline of the context is one like any other.
	late.Retry(t, 50*time.Millisecond, func(limit time.Duration) (slow bool) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		got := newProbe(t, "http://"+address).Run(ctx, attempt.Spec{})
		if !got.DeadlinePassed || got.ExitCode != 124 {
			t.Errorf("got %+v", got)
		}
		return got.Note != "no answer in time"
	})
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 302\nLocation: /\n\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "SSH-2.0", "\x16\x03\x01", "HTTP/1.",
		"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		request, err := http.NewRequest(http.MethodGet, "http://h/", nil)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(check *httpCheck) error {
			stream := struct {
				io.Reader
				io.Writer
			}{bytes.NewReader(input), io.Discard}
			next, err := check.ask(stream, new(Probe), request)
			if next != nil {
				return plain("a redirect")
			}
			return err
		}
		// Input that ends can only end in words or at its end.
		err = ask(&httpCheck{body: regexp.MustCompile("^$"), statuses: []string{"000-999"}})
		if err != nil && !errors.As(err, new(plain)) && !errors.Is(err, io.EOF) {
			t.Fatalf("error %v", err)
		}
		// The status is a final one, or a switch of protocols.
		if ask(&httpCheck{statuses: []string{"000-100", "102-199"}}) == nil {
			t.Fatal("an interim answer, or none, counts")
		}
	})
}

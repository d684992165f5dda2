package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// fakeServer waits for the first bytes of a client, for a while, and calls answer. It
// then reads until the client closes. It returns the address and what clients sent.
func fakeServer(t *testing.T, sendsFirst bool, answer func(net.Conn)) (string, <-chan string) {
	t.Helper()
	l := listen(t, "tcp", "127.0.0.1:0")
	received := make(chan string, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				first := make([]byte, 4096)
				n := 0
				if !sendsFirst {
					n, _ = conn.Read(first)
				}
				answer(conn)
				_ = conn.(*net.TCPConn).CloseWrite()
				rest, _ := io.ReadAll(conn)
				received <- string(first[:n]) + string(rest)
			}()
		}
	}()
	return l.Addr().String(), received
}

// pgMessage returns a message of PostgreSQL's protocol.
func pgMessage(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))) + body
}

// pgFail returns an error of PostgreSQL's.
func pgFail(code, words string) string {
	return pgMessage('E', "SFATAL\x00VFATAL\x00C"+code+"\x00M"+words+"\x00Fpostmaster.c\x00\x00")
}

// myPacket returns a packet of MySQL's protocol.
func myPacket(body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, 0}) + body
}

// myFail returns an error of MySQL's.
func myFail(code uint16, words string) string {
	return myPacket("\xff" + string(binary.LittleEndian.AppendUint16(nil, code)) + words)
}

// greeting is MariaDB 10.11's.
const greeting = "d\x00\x00\x00\n5.5.5-10.11.19-MariaDB-0+deb12u1" +
	"\x00-\x00\x00\x00nR07bhc8\x00\xfe\xf7\x08\x02\x00\xff\x81\x15" +
	"\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x00-w5>uW4=qGM,\x00mysql_native_password\x00"

// saslRequest is what PostgreSQL asks of a client with a password.
var saslRequest = pgMessage('R', "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00")

// answers are what servers, and others on their ports, answer.
var serverAnswers = []struct {
	scheme, name, answer string
	note                 string // "": ready
}{
	{"postgres", "asks for a password", saslRequest, ""},
	{"postgres", "asks for nothing", pgMessage('R', "\x00\x00\x00\x00") + pgMessage('S', "a\x00b\x00"), ""},
	{"postgres", "starting up", pgFail("57P03", "the database system is starting up"),
		"the database system is starting up"},
	{"postgres", "shutting down", pgFail("57P03", "the database system is shutting down"),
		"the database system is shutting down"},
	{"postgres", "another language", pgFail("57P03", "das Datenbanksystem f\xe4hrt\x1b[31m hoch\n"),
		"das Datenbanksystem f\uFFFDhrt hoch"},
	{"postgres", "no words", pgFail("57P03", ""), "the server takes no connections now"},
	{"postgres", "many words", pgFail("57P03", strings.Repeat("ä", 1000)), strings.Repeat("ä", 100)},
	{"postgres", "too many connections", pgFail("53300", "sorry, too many clients already"),
		"sorry, too many clients already"},
	{"postgres", "no memory", pgFail("53200", "out of memory"), "out of memory"},
	{"postgres", "ended", pgFail("57P01", "terminating connection due to administrator command"),
		"terminating connection due to administrator command"},
	{"postgres", "no such role", pgFail("28000", `role "x" does not exist`), ""},
	{"postgres", "TLS required", pgFail("28000", `no pg_hba.conf entry for host "127.0.0.1", no encryption`), ""},
	{"postgres", "no such database", pgFail("3D000", `database "x" does not exist`), ""},
	{"postgres", "cannot fork", "Ecould not fork new process for connection: Resource temporarily unavailable\n\x00",
		"could not fork new process for connection: Resource temporarily unavailable"},
	{"postgres", "an error without a code", pgMessage('E', "Mwhat?\x00\x00"), "answer is not PostgreSQL's"},
	{"postgres", "an error cut short", pgMessage('E', "C57P03\x00Mthe"), "answer is not PostgreSQL's"},
	{"postgres", "half an error", pgFail("57P03", "starting")[:20], "closed before the end of its answer"},
	{"postgres", "half a length", "R\x00", "closed before the end of its answer"},
	{"postgres", "an empty request", pgMessage('R', ""), "answer is not PostgreSQL's"},
	{"postgres", "a huge request", "R\x7f\xff\xff\xff", "answer is not PostgreSQL's"},
	{"postgres", "nothing", "", "closed without an answer"},
	{"postgres", "a web server", "HTTP/1.1 400 Bad Request\r\n\r\n", "answer is not PostgreSQL's"},
	{"postgres", "VNC", "RFB 003.008\n", "answer is not PostgreSQL's"},
	{"postgres", "memcached", "ERROR\r\n", "answer is not PostgreSQL's"},
	{"postgres", "TLS", "\x15\x03\x01\x00\x02\x02\x16", "answer is not PostgreSQL's"},

	{"redis", "PONG", "+PONG\r\n", ""},
	{"redis", "a bare line feed", "+PONG\n", ""},
	{"redis", "asks for a password", "-NOAUTH Authentication required.\r\n", ""},
	{"redis", "protected mode", "-DENIED Redis is running in protected mode\r\n", ""},
	{"redis", "loading", "-LOADING Redis is loading the dataset in memory\r\n",
		"LOADING Redis is loading the dataset in memory"},
	{"redis", "a replica without data", "-MASTERDOWN Link with MASTER is down\r\n",
		"MASTERDOWN Link with MASTER is down"},
	{"redis", "busy", "-BUSY Redis is busy running a script.\r\n", "BUSY Redis is busy running a script."},
	{"redis", "too many connections", "-ERR max number of clients reached\r\n", "ERR max number of clients reached"},
	{"redis", "another error", "-ERR unknown command\r\n", ""},
	{"redis", "POP3", "+OK ready\r\n", "answer is not Redis's"},
	{"redis", "SMTP", "220 mail ESMTP\r\n", "answer is not Redis's"},
	{"redis", "a line without end", "-" + strings.Repeat("x", 5000), "answer is not Redis's"},
	{"redis", "half a line", "+PON", "closed before the end of its answer"},
	{"redis", "nothing", "", "closed without an answer"},
	{"redis", "a web server", "HTTP/1.1 400 Bad Request\r\n\r\n", "answer is not Redis's"},
	{"redis", "TLS", "\x15\x03\x01\x00\x02\x02\x16", "answer is not Redis's"},

	{"mysql", "greets", greeting, ""},
	{"mysql", "an old greeting", myPacket("\x093.20.0\x00\x01\x00\x00\x0012345678\x00"), ""},
	{"mysql", "a short greeting", myPacket("\n8.0\x00"), ""},
	{"mysql", "too many connections", myFail(1040, "Too many connections"), "Too many connections"},
	{"mysql", "a state", myFail(1053, "#08S01Server shutdown in progress"), "Server shutdown in progress"},
	{"mysql", "a router", myFail(2003, "#HY000Can't connect to remote MySQL server"),
		"Can't connect to remote MySQL server"},
	{"mysql", "no words", myFail(1040, ""), "the server takes no connections now"},
	{"mysql", "not from here", myFail(1130, "Host '10.0.0.1' is not allowed to connect to this MySQL server"), ""},
	{"mysql", "blocked", myFail(1129, "Host '10.0.0.1' is blocked"), ""},
	{"mysql", "an error without a code", myPacket("\xff"), "answer is not MySQL's"},
	{"mysql", "no version", myPacket("\n\x00"), "answer is not MySQL's"},
	{"mysql", "a version without end", myPacket("\n8.0"), "answer is not MySQL's"},
	{"mysql", "an empty packet", "\x00\x00\x00\x00", "answer is not MySQL's"},
	{"mysql", "the X protocol", "\x05\x00\x00\x00\x0b\x08\x05\x1a\x00", "answer is not MySQL's"},
	{"mysql", "half a greeting", greeting[:40], "closed before the end of its answer"},
	{"mysql", "half a head", "d\x00", "closed before the end of its answer"},
	{"mysql", "nothing", "", "closed without an answer"},
	{"mysql", "SSH", "SSH-2.0-OpenSSH_9.2\r\n", "answer is not MySQL's"},
	{"mysql", "SMTP", "220 mail ESMTP\r\n", "answer is not MySQL's"},
	{"mysql", "TLS", "\x15\x03\x01\x00\x02\x02\x16", "answer is not MySQL's"},
}

func TestServerAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range serverAnswers {
		t.Run(c.scheme+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			address, _ := fakeServer(t, c.scheme == "mysql",
				func(conn net.Conn) { _, _ = io.WriteString(conn, c.answer) })
			code := 0
			if c.note != "" {
				code = 1
			}
			want(t, once(t, c.scheme+"://"+address), code, c.note)
		})
	}
}

// A server that keeps the connection is judged by what it has sent: by the first byte
// if that is enough.
func TestServerKeepsConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scheme, answer, note string }{
		{"postgres", saslRequest, ""},
		{"postgres", "HTTP", "answer is not PostgreSQL's"},
		{"postgres", "Ecannot fork now\n", "cannot fork now"},
		{"redis", "+PONG\r\n", ""},
		{"redis", "HTTP", "answer is not Redis's"},
		{"mysql", greeting, ""},
		{"mysql", "SSH-2.0", "answer is not MySQL's"},
		{"mysql", "\x05\x00\x00\x00\x0b", "answer is not MySQL's"},
	} {
		stay := make(chan struct{})
		address, _ := fakeServer(t, c.scheme == "mysql", func(conn net.Conn) {
			_, _ = io.WriteString(conn, c.answer)
			<-stay
		})
		code := 0
		if c.note != "" {
			code = 1
		}
		want(t, once(t, c.scheme+"://"+address), code, c.note)
		close(stay)
	}
}

// A server that says nothing, or drips, does not hold a try.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"postgres", "redis", "mysql"} {
		for _, answer := range []func(net.Conn){
			func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
			drip(map[string]string{"postgres": "R\x00\x00\x01\x00", "redis": "+", "mysql": greeting[:20]}[scheme], "x"),
		} {
			t.Run(scheme, func(t *testing.T) {
				t.Parallel()
				address, _ := fakeServer(t, scheme == "mysql", answer)
				p := newProbe(t, scheme+"://"+address)
				wantLate(t, p, "no answer within %v", within)
			})
		}
	}
}

// What is said to a server is what its clients say.
func TestServerReceives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, answer, received string }{
		{"postgres://HOST", saslRequest, "\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00X\x00\x00\x00\x04"},
		{"postgresql://m%65:secret@HOST/shop?sslmode=disable", saslRequest,
			"\x00\x00\x00\x1f\x00\x03\x00\x00user\x00me\x00database\x00shop\x00\x00X\x00\x00\x00\x04"},
		{"postgres://HOST", pgFail("57P03", "starting"), "\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00"},
		{"redis://:secret@HOST/0", "+PONG\r\n", "*1\r\n$4\r\nPING\r\n"},
		{"mysql://me:secret@HOST/shop", greeting,
			"\x3d\x00\x00\x01\x00\x82\x08\x00\x00\x00\x00\x01\x21" + strings.Repeat("\x00", 23) +
				"retry\x00\x00mysql_native_password\x00"},
		{"mysql://HOST", myFail(1040, "Too many connections"), ""},
	} {
		address, received := fakeServer(t, strings.HasPrefix(c.target, "mysql"),
			func(conn net.Conn) { _, _ = io.WriteString(conn, c.answer) })
		_ = once(t, strings.Replace(c.target, "HOST", address, 1))
		select {
		case got := <-received:
			if got != c.received {
				t.Errorf("%s sent %q, want %q", c.target, got, c.received)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("the client did not close the connection")
		}
	}
}

func TestServerPorts(t *testing.T) {
	t.Parallel()
	for target, port := range map[string]string{"postgres://db": "5432", "postgresql://db/x": "5432",
		"redis://db": "6379", "mysql://db": "3306", "mysql://[::1]:1/": "1"} {
		parsed, err := Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := parsed.check.(*serverCheck).port; got != port {
			t.Errorf("%s: port %q, want %s", target, got, port)
		}
	}
}

// FuzzServers gives the three readers whatever may come: they end with words or
// at the end of the input, in bounded memory.
func FuzzServers(f *testing.F) {
	for _, c := range serverAnswers {
		f.Add([]byte(c.answer))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		reader := func() *bufio.Reader { return bufio.NewReader(bytes.NewReader(input)) }
		answer, mysql := readMySQL(reader())
		if (answer == nil) != (mysql != nil || len(input) > 4 && input[4] == 0xff) || len(answer) > 200 {
			t.Fatalf("answer %q, %v", answer, mysql)
		}
		_, postgres := readPostgres(reader())
		_, redis := readRedis(reader())
		for _, err := range []error{mysql, postgres, redis} {
			if err == nil || isEnd(err) {
				continue
			}
			if words, ok := errors.AsType[plain](err); !ok || oneLine(string(words)) != string(words) ||
				words == "" || len(words) > maxLine {
				t.Fatalf("%q: %v", input, err)
			}
		}
	})
}

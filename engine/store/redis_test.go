package store

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/loopback"
	"github.com/retrysh/retry/testdata/tries"
)

// server starts a redis-server on a socket and returns the path of that. If
// there is no redis-server, the test is skipped.
func server(t testing.TB, flags ...string) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server here")
	}
	dir, err := loopback.SocketDir("redis")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(program, append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir,
		"--daemonize", "no"}, flags...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			_ = conn.Close()
			return socket
		}
	}
	t.Fatal("the server does not listen")
	return ""
}

// dial is one connection for many commands.
func dial(t *testing.T, socket string) *client {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newClient(conn)
}

func TestTheScriptsNameIsItsHash(t *testing.T) {
	if sum := sha1.Sum([]byte(script)); hex.EncodeToString(sum[:]) != scriptSHA {
		t.Errorf("scriptSHA has to be %x", sum)
	}
}

// history is a random sequence of requests on one key, made of the server and of
// engine/guard alike.
type history struct {
	seed    int
	steps   int
	r       *rand.Rand
	c       *client
	key     string
	aside   string // where a record that cannot be read is kept
	script  string // its hash
	state   guard.State
	guards  []*guard.Guards
	passes  []guard.Pass
	taken   guard.Taken
	clock   int64 // of the script; 0 if it is the server's own
	busy    bool  // it is long, and most requests report an outcome
	beside  doer  // another store that is asked the same, nil for none
	counter int64
	asked   struct { // what the server has not answered yet
		guards  *guard.Guards
		request *guard.Request
	}
}

// TestStoresAnswerAlike makes random histories of Redis and of engine/guard, the server's clock
// read into those in Go. In every other history the clock is one that jumps, by days too; files
// and memory are asked the same then. Slots on files are locks of the kernel, and a place in
// memory lasts, so these histories have none.
func TestStoresAnswerAlike(t *testing.T) {
	n := tries.Of(300)
	c := dial(t, server(t))
	load := func(text string) string {
		if _, err := c.conn.Write(appendCommand(nil, "SCRIPT", "LOAD", text)); err != nil {
			t.Fatal(err)
		}
		_, length, _ := c.line()
		_, _, err := c.line()
		if err != nil || length != "40" {
			t.Fatal(length, err)
		}
		sum := sha1.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	own := load(script)
	const reads = "local time = redis.call('TIME')"
	if strings.Count(script, "redis.call('TIME')") != 1 {
		t.Fatal("the script does not read the time once")
	}
	given := load(strings.Replace(script, reads, "local time = { r.seconds, r.micros }", 1))
	files := t.TempDir()
	const beside = 25 // that ask at the same time
	for first := 0; first < n; first += beside {
		var histories []*history
		for seed := first; seed < first+beside; seed++ {
			h := newHistory(seed, c, own)
			if seed%2 == 1 {
				h.script, h.clock = given, time.Now().UnixMilli()
			}
			switch seed % 8 {
			case 1, 5:
				file := NewFile(files, strconv.Itoa(seed))
				file.Now = func() int64 { return h.clock }
				h.askBeside(file, func(g *guard.Guards) { g.Slots = guard.Slots{} })
			case 3:
				h.askBeside(&admission.Memory{Now: func() time.Time { return time.UnixMilli(h.clock) }},
					func(g *guard.Guards) {
						g.Slots, g.Breaker = guard.Slots{}, guard.Breaker{}
					})
			}
			histories = append(histories, h)
		}
		if err := goOn(histories); err != nil {
			t.Fatal(err)
		}
	}
}

func newHistory(seed int, c *client, script string) *history {
	r := rand.New(rand.NewPCG(uint64(seed), 15))
	h := &history{seed: seed, r: r, c: c, script: script}
	h.key, h.aside = keys("k" + strconv.Itoa(seed))
	for range 1 + r.IntN(3) { // runs with parameters of their own share the key
		h.guards = append(h.guards, randomGuards(r))
	}
	h.steps = 10 + r.IntN(30)
	if h.busy = seed%40 < 2; h.busy {
		h.steps = 250
		for _, g := range h.guards {
			g.Adaptive = true
		}
	}
	return h
}

// askBeside has another store asked the same, by guards without what differs there.
func (h *history) askBeside(s doer, without func(*guard.Guards)) {
	h.beside = s
	for _, g := range h.guards {
		without(g)
	}
}

// goOn lets histories make their requests side by side, each its next one, which
// spares most of the way to the server and back.
func goOn(histories []*history) error {
	for step := 0; len(histories) > 0; step++ {
		c, r := histories[0].c, histories[0].r
		if r.IntN(8) == 0 {
			time.Sleep(time.Duration(r.IntN(2)) * time.Millisecond) // so that the server's clock moves on
		}
		var out []byte
		for _, h := range histories {
			out = h.send(out)
		}
		if _, err := c.conn.Write(out); err != nil {
			return err
		}
		for _, h := range histories {
			if err := h.compare(); err != nil {
				return fmt.Errorf("seed %d, step %d: %w", h.seed, step, err)
			}
		}
		histories = slices.DeleteFunc(histories, func(h *history) bool { return step+1 == h.steps })
	}
	return nil
}

// randomGuards names each guard in half of the cases, with numbers so small that
// all of them refuse.
func randomGuards(r *rand.Rand) *guard.Guards {
	g := &guard.Guards{Attempts: r.Int64N(6), Adaptive: r.IntN(2) == 0, Priority: guard.Priority(r.IntN(3))}
	if r.IntN(2) == 0 {
		g.Breaker = guard.Breaker{Open: 1 + r.Int64N(20), Probes: 1 + r.Int64N(3)}
		if r.IntN(2) == 0 {
			g.Breaker.Row = 1 + r.Int64N(4)
		} else {
			g.Breaker.Rate, g.Breaker.Min, g.Breaker.Window = 1+r.Int64N(1e6), 1+r.Int64N(5), 10+r.Int64N(50)
		}
	}
	if r.IntN(2) == 0 {
		g.Budget = guard.Budget{On: true, Ratio: r.Int64N(1e6), Min: r.Int64N(4), Window: 10 + r.Int64N(50),
			Reserve: r.Int64N(1e6)}
	}
	if r.IntN(2) == 0 {
		g.Tokens = guard.Tokens{Capacity: 1 + r.Int64N(40), Cost: 1 + r.Int64N(5), TimeoutCost: 1 + r.Int64N(9),
			Success: r.Int64N(2), Refill: r.Int64N(2) * r.Int64N(500_000), Reserve: r.Int64N(1e6)}
	}
	if r.IntN(2) == 0 {
		g.Slots = guard.Slots{N: 1 + r.Int64N(4)}
	}
	if r.IntN(2) == 0 {
		g.RateLimit = guard.RateLimit{Interval: 1 + r.Int64N(20_000), Burst: 1 + r.Int64N(4)}
	}
	if r.IntN(20) == 0 { // great numbers, too
		g.RateLimit = guard.RateLimit{Interval: 365 * 24 * 3600 * 1e6, Burst: 1 + r.Int64N(2)}
		g.Budget = guard.Budget{On: true, Ratio: 1e6, Min: 1e9, Window: 365 * 24 * 3600 * 1000, Reserve: r.Int64N(1e6)}
		g.Tokens = guard.Tokens{Capacity: 1e9, Cost: 1e9, TimeoutCost: 9e8, Refill: r.Int64N(1e12),
			Reserve: r.Int64N(1e6)}
	}
	return g
}

func (h *history) request() *guard.Request {
	r := h.r
	h.counter++
	q := &guard.Request{
		Op: guard.Op(r.IntN(7)), Attempt: 1 + r.Int64N(5), TimedOut: r.IntN(2) == 0, ID: guard.MaxID - h.counter,
		Slot: r.IntN(2) == 0,
		Turn: r.IntN(2) == 0, Patience: r.Int64N(40) - 5,
		Waiting: r.IntN(3) == 0, Held: -1, Taken: h.taken, Outcome: guard.Outcome(r.IntN(3)), Succeeded: r.IntN(2) == 0,
	}
	if h.busy && r.IntN(4) > 0 {
		q.Op, q.Outcome = guard.Report, guard.Outcome(1+r.IntN(2))
	}
	if r.IntN(20) == 0 && h.counter > 1 && h.beside == nil && !h.busy {
		q.Op = guard.Reset
	}
	if r.IntN(10) == 0 && h.counter > 1 { // it is repeated, since its answer was lost
		q.ID++
	}
	if len(h.passes) > 0 {
		q.Pass = h.passes[r.IntN(len(h.passes))]
	}
	return q
}

// send makes one request, and adds a call of the script with it and a look at the state
// that it leaves.
func (h *history) send(out []byte) []byte {
	h.asked.guards, h.asked.request = h.guards[h.r.IntN(len(h.guards))], h.request()
	words := requestWords(h.asked.guards, h.asked.request)
	if h.clock > 0 {
		if h.clock += h.r.Int64N(8); h.r.IntN(40) == 0 {
			h.clock += h.r.Int64N(30_000) - 15_000
			if h.r.IntN(4) == 0 { // days
				h.clock += (h.r.Int64N(6) - 1) * 20 * 3600 * 1000
			}
		}
		words += fmt.Sprintf("seconds=%d micros=%d", h.clock/1000, h.clock%1000*1000+999)
	}
	out = appendCommand(out, "EVALSHA", h.script, "2", h.key, h.aside, words)
	return appendCommand(out, "EVAL", lookScript, "1", h.key)
}

// compare reads what came of the request, and compares the answers and the
// states.
func (h *history) compare() error {
	g, q := h.asked.guards, h.asked.request
	lua, list, err := h.answer()
	if err != nil {
		return err
	}
	answer := guard.Do(g, &h.state, q, lua.Now)
	if h.beside != nil {
		there, _, err := h.beside.Do(context.Background(), "k", g, q)
		if err != nil || there != answer {
			return fmt.Errorf("%+v of %+v:\nGo %+v\n%T %+v, %v", q, g, answer, h.beside, there, err)
		}
	}
	if answer != lua {
		return fmt.Errorf("%+v of %+v:\nGo  %+v\nLua %+v", q, g, answer, lua)
	}
	if want := h.state.Append(nil); !reflect.DeepEqual(list, want) {
		return fmt.Errorf("after %+v of %+v:\nGo  %v\nLua %v", q, g, want, list)
	}
	if answer.Refusal.Guard == guard.None && (q.Op == guard.Admit || q.Op == guard.AdmitCopy) {
		h.passes = append(h.passes, answer.Pass)
	}
	if answer.Refusal.Guard == guard.None && (q.Op == guard.Permit || q.Op == guard.AdmitCopy) {
		h.taken = answer.Taken
	}
	return nil
}

// answer reads the script's answer and the state that it left.
func (h *history) answer() (a guard.Answer, list []int64, err error) {
	said, err := h.c.reply()
	if err != nil {
		return a, nil, err
	}
	if a, _, err = answerOf(said.text); err != nil {
		return a, nil, err
	}
	state, err := h.c.reply()
	if err != nil || len(state.list) == 0 {
		return a, nil, errors.Join(err, errReply)
	}
	return a, state.list[1:], nil
}

func redisAt(a *Address) *Redis { return Open(a, func(string) {}).(*Redis) }

// newRedis is a store on a server of its own, and a connection to that.
func newRedis(t *testing.T, login string, flags ...string) (*Redis, *client) {
	t.Helper()
	socket := server(t, flags...)
	address, err := ParseAddress("redis+unix://" + login + socket)
	if err != nil {
		t.Fatal(err)
	}
	return redisAt(&address), dial(t, socket)
}

func (c *client) must(t *testing.T, words ...string) []int64 {
	t.Helper()
	r, err := c.call([][]string{words})
	if err != nil {
		t.Fatal(words, err)
	}
	return r.list
}

func TestRedisKeepsAStateAndLetsItExpire(t *testing.T) {
	s, c := newRedis(t, "")
	opens := &guard.Guards{Breaker: guard.Breaker{Row: 1, Open: hour, Probes: 1}}
	a, _, err := s.Do(soon(t), "npm {a}", opens, &guard.Request{Op: guard.Admit, Attempt: 1, ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err = s.Do(soon(t), "npm {a}", opens, &guard.Request{Op: guard.Report, Pass: a.Pass, Outcome: guard.Failure})
	if err != nil || a.From != guard.Closed || a.To != guard.Open {
		t.Fatalf("%+v, %v", a, err)
	}
	a, _, err = s.Do(soon(t), "npm {a}", opens, &guard.Request{Op: guard.Admit, Attempt: 1, ID: 2})
	if err != nil || a.Refusal.Guard != guard.KindBreaker || a.Refusal.RetryIn > hour || a.Refusal.RetryIn < 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if left := c.must(t, "PTTL", "retry:{npm %7Ba%7D}")[0]; left <= 23*3600*1000 || left > 24*3600*1000 {
		t.Errorf("it expires in %d ms", left)
	}
	if n := c.must(t, "DBSIZE")[0]; n != 1 {
		t.Errorf("%d keys", n)
	}
}

// TestRedisHoldsManySlots: a state of many numbers. Leases that are longer than they may be
// end after the usual time.
func TestRedisHoldsManySlots(t *testing.T) {
	s, c := newRedis(t, "")
	const many = 600 // two numbers each
	const lease = guard.LeaseFor * time.Millisecond
	var state guard.State
	for i := range int64(many - 1) {
		state.Slots = append(state.Slots, guard.Lease{ID: 1<<52 + i, Until: guard.MaxID})
	}
	text := strings.Trim(fmt.Sprint(state.Append(nil)), "[]") + " "
	take := func(id int64) guard.Answer {
		a, _, err := s.Do(soon(t), "k", &guard.Guards{Slots: guard.Slots{N: many}},
			&guard.Request{Op: guard.Admit, Attempt: 1, ID: id, Slot: true})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	late.Retry(t, lease, func(time.Duration) (slow bool) {
		c.must(t, "SET", "retry:{k}", fmt.Sprintf("%x", sha1.Sum([]byte(text)))+text)
		begun := time.Now()
		last, more := take(1), take(2)
		slow = time.Since(begun) >= lease
		if !last.Pass.Slot || !slow && (more.Refusal.Guard != guard.KindSlots || more.Refusal.Held != many) {
			t.Errorf("%+v, %+v", last, more.Refusal)
		}
		return slow
	})
}

func TestRedisSetsAsideWhatItCannotRead(t *testing.T) {
	s, c := newRedis(t, "")
	var warnings []string
	s.Warn = func(line string) { warnings = append(warnings, line) }
	c.must(t, "SET", "retry:{a}", "1 2 3 nonsense")
	c.must(t, "LPUSH", "retry:{b}", "a list")
	// One that was cut, and has a sum for what is left.
	c.must(t, "EVAL", "local text = '3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 77 '\nreturn redis.call('SET', KEYS[1], "+
		"redis.sha1hex(text) .. text)", "1", "retry:{c}")
	for _, key := range []string{"a", "b", "c"} {
		a, _, err := s.Do(soon(t), key, budget, &run)
		if err != nil || a.Refusal.Guard != guard.None {
			t.Errorf("%s: %+v, %v", key, a, err)
		}
	}
	if len(warnings) != 3 || !strings.Contains(warnings[0], "retry:{a}:damaged") {
		t.Errorf("warnings %q", warnings)
	}
	if n := c.must(t, "EXISTS", "retry:{a}:damaged", "retry:{b}:damaged", "retry:{a}", "retry:{b}")[0]; n != 4 {
		t.Errorf("%d of the keys exist", n)
	}
}

func TestRedisFailuresSayWhatToDo(t *testing.T) {
	const permissions = "~retry:* -@all +eval +evalsha +get +set +time"
	for _, c := range []struct {
		name, login string
		flags       []string
		user        string // bob's rules
		says        string
	}{
		{name: "no password given", flags: []string{"--requirepass", "sesame"}, says: "asks for a password"},
		{name: "wrong password", login: ":secret@", flags: []string{"--requirepass", "sesame"},
			says: "refuses the user or the password"},
		{name: "right password", login: ":sesame@", flags: []string{"--requirepass", "sesame"}},
		{name: "unknown user", login: "bob:secret@", says: "refuses the user or the password"},
		{name: "a user", login: "bob:s%40%2Fe@", user: "on >s@/e " + permissions},
		{name: "a user without a permission inside the script", login: "bob:secret@",
			user: "on >secret ~retry:* -@all +eval +evalsha +time +get", says: "lacks a permission"},
		{name: "a user who may not run scripts", login: "bob:secret@",
			user: "on >secret ~retry:* -@all +get +set", says: "lacks a permission"},
		{name: "a user without the keys", login: "bob:secret@",
			user: "on >secret ~other:* +@all", says: "lacks a permission"},
		{name: "a replica", flags: []string{"--replicaof", "127.0.0.1", "1"}, says: "is a replica"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, conn := newRedis(t, c.login, c.flags...)
			if c.user != "" {
				conn.must(t, append([]string{"ACL", "SETUSER", "bob"}, strings.Fields(c.user)...)...)
			}
			_, _, err := s.Do(soon(t), "npm", budget, &run)
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) ||
				strings.Contains(err.Error(), "secret")):
				t.Errorf("%v, without %q", err, c.says)
			}
		})
	}
}

// answers is a server that answers each connection by the lines of a script.
func answers(t *testing.T, reply func(conn net.Conn, got string)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 1<<16)
			n, _ := conn.Read(b)
			reply(conn, string(b[:n]))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

const admitted = "+now=1 id=7\r\n"

func TestAClusterIsFollowed(t *testing.T) {
	second := answers(t, func(conn net.Conn, got string) {
		_, _ = conn.Write([]byte(admitted))
	})
	asked := answers(t, func(conn net.Conn, got string) {
		if !strings.HasPrefix(got, "*1\r\n$6\r\nASKING\r\n*") {
			t.Errorf("not asking: %q", got)
		}
		_, _ = conn.Write([]byte("+OK\r\n" + admitted))
	})
	for _, redirect := range []string{"-MOVED 42 " + second, "-ASK 42 " + asked} {
		first := answers(t, func(conn net.Conn, got string) { _, _ = conn.Write([]byte(redirect + "\r\n")) })
		s := redisAt(must(pointer(ParseAddress("redis://" + first))))
		a, _, err := s.Do(soon(t), "npm", budget, &run)
		if err != nil || a.Pass.ID != 7 {
			t.Errorf("%s: %+v, %v", redirect, a, err)
		}
	}
}

// A redirect of the login would lead the password to another server.
func TestARedirectOfTheLoginIsNotFollowed(t *testing.T) {
	other := answers(t, func(conn net.Conn, got string) {
		t.Errorf("the other server was asked: %q", got)
		_, _ = conn.Write([]byte("+OK\r\n" + admitted))
	})
	first := answers(t, func(conn net.Conn, _ string) {
		_, _ = conn.Write([]byte("-MOVED 42 " + other + "\r\n" + admitted))
	})
	s := redisAt(must(pointer(ParseAddress("redis://:sesame@" + first))))
	if _, _, err := s.Do(soon(t), "npm", budget, &run); err == nil || !strings.Contains(err.Error(), "AUTH") {
		t.Errorf("%v", err)
	}
}

// What a server sends behind its reply is no reply to what is asked next.
func TestASecondReplyIsNotTaken(t *testing.T) {
	at := answers(t, func(conn net.Conn, _ string) {
		_, _ = conn.Write([]byte("-NOSCRIPT no script\r\n" + admitted))
		_, _ = conn.Read(make([]byte, 1<<16))
	})
	s := redisAt(must(pointer(ParseAddress("redis://" + at))))
	if a, _, err := s.Do(soon(t), "npm", budget, &run); !errors.Is(err, errReply) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAServerThatIsNotReadyIsReported(t *testing.T) {
	for line, says := range map[string]string{
		"LOADING Redis is loading the dataset in memory": "is not ready",
		"MASTERDOWN Link with MASTER is down":            "is not ready",
		"BUSY Redis is busy running a script.":           "is not ready",
		"OOM command not allowed":                        "answers",
	} {
		at := answers(t, func(conn net.Conn, _ string) { _, _ = conn.Write([]byte("-" + line + "\r\n")) })
		s := redisAt(must(pointer(ParseAddress("redis://" + at))))
		if _, _, err := s.Do(soon(t), "npm", budget, &run); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), line) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }

func TestAServerThatIsNotRedisIsReported(t *testing.T) {
	for name, reply := range map[string]string{
		"a web server":   "HTTP/1.1 400 Bad Request\r\n\r\n",
		"nothing":        "",
		"an endless one": strings.Repeat("x", 1<<16),
		"a long list":    "*1000000000\r\n",
		"a bad list":     "*2\r\n:1\r\n$3\r\nabc\r\n",
		"a short list":   "*1\r\n:1\r\n",
		"a long text":    "$1000000000\r\n",
		"a text":         "$3\r\nabc\r\n",
		"a short text":   "$30\r\nabc\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			at := answers(t, func(conn net.Conn, _ string) { _, _ = conn.Write([]byte(reply)) })
			s := redisAt(must(pointer(ParseAddress("redis://" + at))))
			if _, _, err := s.Do(soon(t), "npm", budget, &run); err == nil {
				t.Error("no error")
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	hangs := answers(t, func(net.Conn, string) { <-t.Context().Done() })
	s := redisAt(must(pointer(ParseAddress("redis://" + hangs))))
	if _, _, err := s.Do(ctx, "npm", budget, &run); !errors.Is(err, errTimeout) {
		t.Errorf("%v", err)
	}
}

func TestAddressesAreRead(t *testing.T) {
	for text, want := range map[string]Address{
		"file:/var/lib/x":   {Dir: "/var/lib/x", Name: "file:/var/lib/x"},
		"file:///var/lib/x": {Dir: "/var/lib/x", Name: "file:/var/lib/x"},
		"file:x":            {Dir: "x", Name: "file:x"},
		"redis://h":         {Network: "tcp", Host: "h:6379", Name: "redis://h"},
		"REDISS://h:1/3":    {Network: "tcp", Host: "h:1", TLS: true, DB: 3, Name: "rediss://h:1/3"},
		"redis://[::1]":     {Network: "tcp", Host: "[::1]:6379", Name: "redis://[::1]"},
		"redis://u:p%25/@x@h": {Network: "tcp", Host: "h:6379", User: "u", Password: "p%/@x",
			Name: "redis://u:xxxxx@h"},
		"redis://:p@h/":        {Network: "tcp", Host: "h:6379", Password: "p", Name: "redis://:xxxxx@h/"},
		"redis+unix:///r.sock": {Network: "unix", Host: "/r.sock", Name: "redis+unix:///r.sock"},
		"redis+unix://:p@/a%20b?db=2": {Network: "unix", Host: "/a b", Password: "p", DB: 2,
			Name: "redis+unix://:xxxxx@/a%20b?db=2"},
	} {
		if got, err := ParseAddress(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"":                         `"" is not the address`,
		"/var/lib":                 `is not the address`,
		"file:":                    `names no directory`,
		"file://host/x":            `names a host`,
		`file://C:\x`:              `names a host; write file:C:\x`,
		"file://c:/x y":            `names a host; write file:c:/x y`,
		"redis:h":                  `lacks //`,
		"redis://":                 `is wrong: the host is missing`,
		"redis://h:0":              `is wrong: bad port`,
		"redis://h:65536":          `is wrong: bad port`,
		"redis://secret@h":         `lacks a password`,
		"redis://u:@h":             `lacks a password`,
		"redis://u:secret%zz@h":    `%25`,
		"redis://u:secret@h:p":     `is wrong: bad port`,
		"redis://h/x":              `a database that is not`,
		"redis://::1":              `goes in brackets`,
		"redis://[h]":              `not an IPv6 address`,
		"redis+unix://u:secret@x":  `names no path`,
		"redis+unix:///x?timeout":  `?db=N`,
		"redis://u:secret@h h":     `is wrong: bad host`,
		"redis+unix://secret@/x?y": `lacks a password`,

		"redis+sentinel://:secret@h:26379/m": `a Sentinel, which is not supported: name the primary`,
		"redis-sentinel://h/m":               `a Sentinel, which is not supported: name the primary`,
		"valkeys://:secret@h":                `begin with redis:// or rediss:// here`,
		"redis+cluster://h":                  `one of its nodes`,
		"rediss://h?cert=secret":             `a client certificate is not supported`,
		"redis://:secret@h1:1,h2:2":          `names several servers; name one`,
	} {
		if _, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, without %q", text, err, says)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"file:/x", "redis://u:sesame@h:1/2", "rediss://:sesame@[::1]",
		"redis+unix://u:sesame@/x?db=1", "redis://u:sesame@@h/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err == nil && (a.Dir == "") == (a.Host == "") {
			t.Errorf("%q: %+v", s, a)
		}
		if err == nil && len(a.Password) > 5 && strings.Contains(a.Name, a.Password) &&
			!strings.Contains(a.Host+a.User, a.Password) {
			t.Errorf("%q shows its password: %q", s, a.Name)
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{admitted, "+OK\r\n", "-ERR x\r\n", ":1\r\n", "*-1\r\n", "$3\r\nabc\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ours, theirs := net.Pipe()
		go func() { _, _ = theirs.Write([]byte(s)); _ = theirs.Close() }()
		defer func() { _ = ours.Close() }()
		c := newClient(ours)
		r, err := c.reply()
		if err == nil && len(r.list) > longestList {
			t.Errorf("%d numbers", len(r.list))
		}
	})
}

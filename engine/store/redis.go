package store

// This file is the store in Redis or Valkey: one call of a script for each
// request, by the server's clock.

import (
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/guard"
)

// script decides as engine/guard does. scriptSHA is its SHA-1, by which a server
// knows a script that it has run before.
//
//go:embed guard.lua
var script string

const scriptSHA = "02b3dfc9d71e7df92658958dadb57068c6c29548"

// Redis is a store on a server.
type Redis struct {
	address *Address
	// Warn is told in one line what is wrong but stops nothing.
	Warn func(line string)
	idle idle
}

// NewRedis is the store at an address. It connects at the first request.
func NewRedis(a *Address) *Redis { return &Redis{address: a, Warn: func(string) {}} }

// Do answers a request in one transaction.
func (s *Redis) Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (guard.Answer, Lock, error) {
	numbers, err := s.call(ctx, keys(key), arguments(g, r))
	if err != nil {
		return guard.Answer{}, nil, s.explain(ctx, err)
	}
	answer, damaged, err := readAnswer(numbers)
	if damaged {
		s.Warn(fmt.Sprintf("the record %s cannot be read; it begins anew, and was renamed to %s", keys(key)[0], keys(key)[1]))
	}
	return answer, nil, err
}

// keys are where the state is, and where one that cannot be read is set aside.
// They have one hash tag, so that a cluster has them in one place; a brace in the
// key is escaped, since it would end the tag.
func keys(key string) [2]string {
	if strings.ContainsAny(key, "%{}") {
		key = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(key)
	}
	name := "retry:{" + key + "}"
	return [2]string{name, name + ":damaged"}
}

// arguments are the numbers of a request, in the order that guard.lua reads.
func arguments(g *guard.Guards, r *guard.Request) []int64 {
	b, u, t := &g.Breaker, &g.Budget, &g.Tokens
	return []int64{
		int64(r.Op),
		b.Rate, b.Row, b.Min, b.Window, b.Open, b.Probes,
		bit(u.On), u.Ratio, u.Min, u.Window, g.Priority.Share(u.Reserve),
		t.Capacity, t.Cost, t.TimeoutCost, t.Success, t.Refill, g.Priority.Share(t.Reserve),
		g.Slots.N, bit(g.Adaptive), g.Attempts,
		r.Attempt, bit(r.TimedOut), r.ID, bit(r.Slot), bit(r.Waiting),
		r.Taken.At, bit(r.Taken.Budget), r.Taken.Cost,
		r.Pass.ID, r.Pass.Generation, bit(r.Pass.Place), bit(r.Pass.Slot),
		int64(r.Outcome), bit(r.Succeeded),
	}
}

// pack writes numbers that are not negative as MessagePack, one after another
// (github.com/msgpack/msgpack, spec.md: positive fixint, uint 64), in one argument:
// a client that has not logged in may send ten at most, and would be told of that,
// not of the login.
func pack(numbers []int64) string {
	b := make([]byte, 0, 9*len(numbers))
	for _, n := range numbers {
		if n < 128 {
			b = append(b, byte(n))
		} else {
			b = binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(n))
		}
	}
	return string(b)
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// errReply says that a reply is not what the script answers.
var errReply = errors.New("answers what no Redis does")

// readAnswer reads what guard.lua returns.
func readAnswer(n []int64) (a guard.Answer, damaged bool, err error) {
	if len(n) != 18 || n[1] < 0 || n[1] > 2 || n[2] < 0 || n[2] > 2 || n[5] < 0 || n[5] > int64(guard.KindAdaptive) || n[7] < 0 || n[7] > 2 {
		return a, false, errReply
	}
	return guard.Answer{
		Now: n[0], From: guard.Circuit(n[1]), To: guard.Circuit(n[2]), Lost: n[3] == 1,
		Refusal: guard.Refusal{Guard: guard.Kind(n[5]), RetryIn: n[6], Circuit: guard.Circuit(n[7]), Figures: [3]int64(n[8:11])},
		Taken:   guard.Taken{At: n[11], Budget: n[12] == 1, Cost: n[13]},
		Pass:    guard.Pass{ID: n[14], Generation: n[15], Place: n[16] == 1, Slot: n[17] == 1},
	}, n[4] == 1, nil
}

// call runs the script.
func (s *Redis) call(ctx context.Context, keys [2]string, numbers []int64) ([]int64, error) {
	return s.run(ctx, []string{"EVALSHA", scriptSHA, "2", keys[0], keys[1], pack(numbers)})
}

// run runs a command, on another server where a cluster says so.
func (s *Redis) run(ctx context.Context, words []string) ([]int64, error) {
	host, asking := s.address.Host, false
	for hop := 0; ; hop++ {
		list, err := s.callAt(ctx, host, asking, words)
		var reply replyError
		if !errors.As(err, &reply) || hop == maxHops {
			return list, err
		}
		to, ask, moved := reply.redirect(host)
		if !moved {
			return list, err
		}
		host, asking = to, ask
	}
}

// maxHops is how often a cluster's redirects are followed.
const maxHops = 3

// callAt runs the script on one server.
func (s *Redis) callAt(ctx context.Context, host string, asking bool, words []string) ([]int64, error) {
	c, err := s.connect(ctx, host)
	if err != nil {
		return nil, err
	}
	var before [][]string
	if !c.used {
		before = s.greeting()
	}
	if asking {
		before = append(before, []string{"ASKING"})
	}
	list, err := c.call(before, words)
	var reply replyError
	if errors.As(err, &reply) && reply.is("NOSCRIPT") {
		before = nil
		if asking {
			before = [][]string{{"ASKING"}}
		}
		list, err = c.call(before, append([]string{"EVAL", script}, words[2:]...))
	}
	if err != nil || !c.stop() { // the context has ended, and closes it
		_ = c.conn.Close()
		return list, err
	}
	s.idle.keep(c)
	return list, nil
}

// greeting is what comes first on a new connection.
func (s *Redis) greeting() (words [][]string) {
	switch a := s.address; {
	case a.User != "":
		words = append(words, []string{"AUTH", a.User, a.Password})
	case a.Password != "":
		words = append(words, []string{"AUTH", a.Password})
	}
	if s.address.DB != 0 {
		words = append(words, []string{"SELECT", strconv.Itoa(s.address.DB)})
	}
	return words
}

// connect returns a connection whose every step ends with ctx: the one that was
// used last, where it is to the same server, or a new one.
func (s *Redis) connect(ctx context.Context, host string) (*client, error) {
	c := s.idle.take(host)
	if c == nil {
		conn, err := s.dial(ctx, host)
		if err != nil {
			return nil, err
		}
		c = newClient(conn)
		c.host = host
	}
	deadline, _ := ctx.Deadline()
	_ = c.conn.SetDeadline(deadline)
	c.stop = context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	return c, nil
}

func (s *Redis) dial(ctx context.Context, host string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, s.address.Network, host)
	if err == nil && s.address.TLS {
		name, _, _ := net.SplitHostPort(host)
		secure := tls.Client(conn, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("TLS: %w", err)
		}
		conn = secure
	}
	return conn, err
}

// explain says what to do about an error, in place of how it came about.
func (s *Redis) explain(ctx context.Context, err error) error {
	var reply replyError
	var op *net.OpError
	switch {
	case errors.As(err, &reply):
		return reply.explain(err)
	case errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil:
		return errTimeout
	case errors.As(err, &op) && op.Err != nil:
		return op.Err
	}
	return err
}

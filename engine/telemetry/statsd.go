package telemetry

// This file encodes a run for StatsD with DogStatsD's tags, and sends it. A name
// has 250 ms to resolve and a full queue 20 ms; nothing is sent twice, and what
// UDP loses is not known.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// The largest datagrams, in bytes: what an Ethernet frame carries by UDP, and
// DogStatsD's default for a unix socket.
const (
	largestUDP  = 1432
	largestUnix = 8192
)

const (
	resolveLimit = 250 * time.Millisecond
	queueLimit   = 20 * time.Millisecond
)

// StatsD is the address of a server.
type StatsD struct{ network, address string }

// ParseStatsD reads HOST:PORT, unix:///path or unix:/path.
func ParseStatsD(s string) (StatsD, error) {
	if path, is := strings.CutPrefix(s, "unix:"); is {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") || strings.Trim(path, "/") == "" {
			return StatsD{}, fmt.Errorf("%q is not an address; write HOST:PORT or unix:///path", text.MaskedAddress(s))
		}
		return StatsD{"unixgram", path}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 || host == "" ||
		strings.ContainsAny(host, "/@ ") {
		return StatsD{}, fmt.Errorf("%q is not an address; write HOST:PORT or unix:///path", text.MaskedAddress(s))
	}
	return StatsD{"udp", s}, nil
}

// UnmarshalText is ParseStatsD.
func (s *StatsD) UnmarshalText(text []byte) (err error) {
	*s, err = ParseStatsD(string(text))
	return err
}

// send sends the run's lines.
func (s StatsD) send(ctx context.Context, r *run) error {
	dialer := net.Dialer{Timeout: resolveLimit}
	var conn net.Conn
	err := inTime(ctx, func() (err error) {
		conn, err = dialer.DialContext(ctx, s.network, s.address)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.address, errors.Unwrap(err))
	}
	defer func() { _ = conn.Close() }()
	limit := largestUDP
	if s.network == "unixgram" {
		limit = largestUnix
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	for _, datagram := range datagrams(r.statsd(), limit) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := inTime(ctx, func() error {
			_ = conn.SetWriteDeadline(time.Now().Add(queueLimit))
			_, err := conn.Write(datagram)
			return err
		})
		if err != nil && (s.network != "udp" || !errors.Is(err, syscall.ECONNREFUSED)) {
			return fmt.Errorf("%s: %w", s.address, errors.Unwrap(err))
		}
	}
	return nil
}

// inTime calls f again, twice at most, if it has run into its time limit: a busy machine may
// not have run the program for as long.
func inTime(ctx context.Context, f func() error) (err error) {
	for range 3 {
		err = f()
		if late, ok := errors.AsType[net.Error](err); !ok || !late.Timeout() || ctx.Err() != nil {
			break
		}
	}
	return err
}

// statsd returns the run's lines.
func (r *run) statsd() []string {
	name, outcome := tag(r.name()), tag(string(r.End.Outcome))
	lines := []string{fmt.Sprintf("retry.runs:1|c|#name:%s,outcome:%s", name, outcome)}
	for _, s := range r.metrics.of(attempts) {
		lines = append(lines,
			fmt.Sprintf("retry.attempts:%s|c|#name:%s,result:%s", number(r.metrics[s][0]), name, s.label))
	}
	lines = append(lines,
		fmt.Sprintf("retry.run.duration:%s|ms|#name:%s,outcome:%s", milliseconds(r.elapsed()), name, outcome))
	rate := ""
	if r.every > 1 {
		rate = "|@" + number(1/float64(r.every))
	}
	for _, slept := range r.samples {
		lines = append(lines, fmt.Sprintf("retry.delay:%s|ms%s|#name:%s", milliseconds(slept), rate, name))
	}
	return lines
}

func milliseconds(d time.Duration) string {
	return number(float64(d.Round(time.Microsecond)) / float64(time.Millisecond))
}

// tag is a tag's value: ASCII letters, digits and "_-./"; the rest becomes "_".
func tag(value string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-./", r):
			return r
		}
		return '_'
	}, value)
}

// datagrams joins lines by line feeds, as many as fit into one.
func datagrams(lines []string, limit int) [][]byte {
	var all [][]byte
	for _, line := range lines {
		if last := len(all) - 1; last >= 0 && len(all[last])+1+len(line) <= limit {
			all[last] = append(append(all[last], '\n'), line...)
			continue
		}
		all = append(all, []byte(line))
	}
	return all
}

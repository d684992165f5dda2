package guard

// This file reads the values of flags: VALUE[,name=value...].

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/backoff"
)

const (
	maxNumber   = 1_000_000_000 // the greatest count
	maxSlots    = 10_000        // each may be a file
	maxDuration = 365 * day     // in milliseconds
	minWindow   = parts         // ten slices of a millisecond
)

// UnmarshalText reads a rate such as "50%,min=10,window=60s,open=30s,probes=1", or
// a number of failures in a row such as "5,open=30s,probes=1".
func (b *Breaker) UnmarshalText(text []byte) error {
	*b = Breaker{Open: 30_000, Probes: 1}
	v := split(text)
	if number := v.options[head]; strings.HasSuffix(number, "%") {
		b.Min, b.Window = 10, 60_000
		v.rate(head, "a rate of failures", 1, &b.Rate)
		v.count("min", "", 1, maxNumber, &b.Min)
		v.duration("window", minWindow, &b.Window)
	} else {
		v.count(head, "a rate of failures such as 50%, or a number of failures in a row", 1, maxNumber, &b.Row)
		for _, name := range []string{"min", "window"} {
			v.option(name, func(string) {
				v.fail("%s= belongs to a rate such as 50%%; %q failures in a row have none", name, number)
			})
		}
	}
	v.duration("open", 1, &b.Open)
	v.count("probes", "", 1, maxProbes, &b.Probes)
	return v.finish()
}

// UnmarshalText reads a share of the runs such as "10%,min=3,window=60s,reserve=0%".
func (b *Budget) UnmarshalText(text []byte) error {
	*b = Budget{On: true, Min: 3, Window: 60_000}
	v := split(text)
	v.rate(head, "a share of the runs", 0, &b.Ratio)
	v.count("min", "", 0, maxNumber, &b.Min)
	v.duration("window", minWindow, &b.Window)
	v.rate("reserve", "", 0, &b.Reserve)
	return v.finish()
}

// UnmarshalText reads the capacity of a bucket such as
// "500,cost=5,timeout-cost=10,success=1,refill=0/s,reserve=0%".
func (t *Tokens) UnmarshalText(text []byte) error {
	*t = Tokens{Cost: 5, TimeoutCost: 10, Success: 1}
	v := split(text)
	v.count(head, "a number of tokens", 1, maxNumber, &t.Capacity)
	v.count("cost", "", 1, maxNumber, &t.Cost)
	v.count("timeout-cost", "", 1, maxNumber, &t.TimeoutCost)
	v.count("success", "", 0, maxNumber, &t.Success)
	v.option("refill", func(refill string) { // in thousandths
		var ok bool
		t.Refill, ok = scaled(strings.TrimSuffix(refill, "/s"), maxNumber, 1000)
		if !ok {
			v.fail("refill=%q is not tokens a second such as 10/s (0/s to %d/s)", refill, maxNumber)
		}
	})
	v.rate("reserve", "", 0, &t.Reserve)
	return v.finish()
}

// UnmarshalText reads a number of attempts at a time such as "4,wait=0s,of=attempts".
func (s *Slots) UnmarshalText(text []byte) error {
	*s = Slots{}
	v := split(text)
	v.count(head, "a number of attempts at a time", 1, maxSlots, &s.N)
	v.duration("wait", 0, &s.Wait)
	v.option("of", func(of string) {
		s.Of = Of(slices.Index([]string{"attempts", "retries", "runs"}, of))
		if s.Of < 0 {
			v.fail("of=%q is not known; it is attempts, retries or runs", of)
		}
	})
	v.option("lost", func(lost string) {
		s.Lost = Lost(slices.Index([]string{"", "warn", "stop"}, lost))
		if s.Lost <= WarnUnasked {
			v.fail("lost=%q is not known; it is warn or stop", lost)
		}
	})
	return v.finish()
}

// UnmarshalText reads a rate such as "5/s,burst=1" or "100/1m,wait=10s".
func (r *RateLimit) UnmarshalText(text []byte) error {
	*r = RateLimit{Burst: 1, Wait: -1}
	v := split(text)
	v.option(head, func(rate string) { r.Rate, r.Interval = rate, v.interval(rate) })
	v.count("burst", "", 1, maxNumber, &r.Burst)
	v.duration("wait", 0, &r.Wait)
	if v.err == nil && r.Burst-1 > maxDuration*1000/r.Interval {
		v.fail("burst=%d takes more than 365 days to come back at %s", r.Burst, r.Rate)
	}
	return v.finish()
}

// interval reads N/D and returns D/N in microseconds, rounded up.
func (v *value) interval(rate string) int64 {
	number, per, found := strings.Cut(rate, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || number[0] == '+' || n < 1 || n > maxNumber {
		v.fail("%q is not attempts in a time such as 5/s or 100/1m (1 to %d)", rate, maxNumber)
		return 1
	}
	d, err := backoff.ParseDuration(per)
	if err != nil && per != "" && strings.Trim(per, "abcdefghijklmnopqrstuvwxyz") == "" {
		if one, wrong := backoff.ParseDuration("1" + per); wrong == nil { // a unit alone, such as s or min
			d, err = one, nil
		}
	}
	switch {
	case err != nil:
		v.fail("%q is not attempts in a time such as 5/s or 100/1m: %w", rate, err)
	case d <= 0 || d > maxDuration*time.Millisecond:
		v.fail("%q: the time is not above 0 and up to 365 days", rate)
	case d.Microseconds() < n:
		v.fail("%q is more than a million attempts a second", rate)
	default:
		return ceilDiv(d.Nanoseconds(), n*1000)
	}
	return 1
}

// UnmarshalText reads low, normal or high.
func (p *Priority) UnmarshalText(text []byte) error {
	known := slices.Index(priorities, string(text))
	if known < 0 {
		return fmt.Errorf("%q is not a priority; use low, normal or high", text)
	}
	*p = Priority(known)
	return nil
}

func (p Priority) String() string { return priorities[p] }

// priorities are the names, in the order of the constants.
var priorities = []string{"normal", "low", "high"}

// value is a flag's value taken apart. It keeps the first error.
type value struct {
	names   []string // of the options, as they were given
	options map[string]string
	known   []string // the names that were asked for, head first
	err     error
}

// head is the name of what stands before the options.
const head = ","

func split(text []byte) *value {
	words := strings.Split(string(text), ",")
	v := &value{options: map[string]string{head: strings.TrimSpace(words[0])}}
	for _, word := range words[1:] {
		name, text, found := strings.Cut(word, "=")
		name = strings.TrimSpace(name)
		if !found {
			v.fail("%q is not name=value", word)
		} else if _, twice := v.options[name]; twice {
			v.fail("%s= is given twice", name)
		}
		v.names, v.options[name] = append(v.names, name), strings.TrimSpace(text)
	}
	return v
}

func (v *value) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

// option gives read the text of an option, if there is one.
func (v *value) option(name string, read func(text string)) {
	v.known = append(v.known, name)
	if text, given := v.options[name]; given {
		read(text)
	}
}

// finish refuses names that were not asked for.
func (v *value) finish() error {
	for _, name := range v.names {
		if !slices.Contains(v.known, name) {
			v.fail("%q is not known here; the names are %s", name+"=", strings.Join(v.known[1:], ", "))
		}
	}
	return v.err
}

// count reads a number. what says in an error what the text is not, "" for a count.
func (v *value) count(name, what string, least, most int64, into *int64) {
	v.option(name, func(text string) {
		var err error
		*into, err = strconv.ParseInt(text, 10, 64)
		if err != nil || *into < least || *into > most || text[0] == '+' {
			v.fail("%q is not %s (%d to %d)", text, cmp.Or(what, "a count for "+name+"="), least, most)
		}
	})
}

// rate reads a percentage in parts per million; what is as in count, "" for a share.
func (v *value) rate(name, what string, least int64, into *int64) {
	v.option(name, func(text string) {
		digits, percent := strings.CutSuffix(text, "%")
		n, ok := scaled(digits, 100, million/100)
		*into = n
		if !ok || !percent || n < least {
			from := "0%"
			if least > 0 {
				from = "above 0%"
			}
			v.fail("%q is not %s such as 10%% (%s to 100%%)", text, cmp.Or(what, "a share for "+name+"="), from)
		}
	})
}

// scaled reads a number from 0 to most and multiplies it. What is above 0 is at least
// 1 then. A number has digits and at most a point: 1e3, Inf and 0x1p4 are none.
func scaled(digits string, most, factor float64) (n int64, ok bool) {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Trim(digits, "0123456789.") != "" || f > most {
		return 0, false
	}
	n = int64(math.Round(f * factor))
	if f > 0 {
		n = max(n, 1)
	}
	return n, true
}

// duration reads a time and rounds it up to milliseconds.
func (v *value) duration(name string, least int64, into *int64) {
	v.option(name, func(text string) {
		d, err := backoff.ParseDuration(text)
		if err != nil {
			v.fail("%s= %w", name, err)
		}
		*into = ceilDiv(int64(min(d, (maxDuration+1)*time.Millisecond)), int64(time.Millisecond))
		if *into < least || *into > maxDuration {
			v.fail("%s=%q is not from %v to 365 days", name, text, milliseconds(least))
		}
	})
}

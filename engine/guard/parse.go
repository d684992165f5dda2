package guard

// This file reads the values of flags: VALUE[,name=value...].

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/backoff"
)

const (
	// maxNumber is the greatest count.
	maxNumber = 1_000_000_000
	// maxSlots is the greatest number of slots: each may be a file.
	maxSlots = 10_000
	// maxDuration is 365 days, minWindow ten slices of a millisecond; both in
	// milliseconds.
	maxDuration = 365 * day
	minWindow   = parts
)

// UnmarshalText reads a rate such as "50%,min=10,window=60s,open=30s,probes=1", or
// a number of failures in a row such as "5,open=30s,probes=1".
func (b *Breaker) UnmarshalText(text []byte) error {
	*b = Breaker{Open: 30_000, Probes: 1}
	v := split(text)
	if strings.HasSuffix(v.head, "%") {
		b.Min, b.Window = 10, 60_000
		v.rate("a rate of failures", v.head, 1, &b.Rate)
		v.count("min", 1, maxNumber, &b.Min)
		v.duration("window", minWindow, &b.Window)
	} else {
		v.number("a rate of failures such as 50%, or a number of failures in a row", v.head, 1, maxNumber, &b.Row)
		for _, name := range []string{"min", "window"} {
			if _, given := v.option(name); given {
				v.fail("%s= belongs to a rate such as 50%%; %q failures in a row have none", name, v.head)
			}
		}
	}
	v.duration("open", 1, &b.Open)
	v.count("probes", 1, maxProbes, &b.Probes)
	return v.finish()
}

// UnmarshalText reads a share of the runs such as "10%,min=3,window=60s,reserve=0%".
func (b *Budget) UnmarshalText(text []byte) error {
	*b = Budget{On: true, Min: 3, Window: 60_000}
	v := split(text)
	v.rate("a share of the runs", v.head, 0, &b.Ratio)
	v.count("min", 0, maxNumber, &b.Min)
	v.duration("window", minWindow, &b.Window)
	v.share("reserve", &b.Reserve)
	return v.finish()
}

// UnmarshalText reads the capacity of a bucket such as
// "500,cost=5,timeout-cost=10,success=1,refill=0/s,reserve=0%".
func (t *Tokens) UnmarshalText(text []byte) error {
	*t = Tokens{Cost: 5, TimeoutCost: 10, Success: 1}
	v := split(text)
	v.number("a number of tokens", v.head, 1, maxNumber, &t.Capacity)
	v.count("cost", 1, maxNumber, &t.Cost)
	v.count("timeout-cost", 1, maxNumber, &t.TimeoutCost)
	v.count("success", 0, maxNumber, &t.Success)
	v.refill("refill", &t.Refill)
	v.share("reserve", &t.Reserve)
	return v.finish()
}

// UnmarshalText reads a number of attempts at a time such as "4,wait=0s,of=attempts".
func (s *Slots) UnmarshalText(text []byte) error {
	*s = Slots{}
	v := split(text)
	v.number("a number of attempts at a time", v.head, 1, maxSlots, &s.N)
	v.duration("wait", 0, &s.Wait)
	if of, given := v.option("of"); given {
		if s.Of = Of(slices.Index([]string{"attempts", "retries", "runs"}, of)); s.Of < 0 {
			v.fail("of=%q is not known; it is attempts, retries or runs", of)
		}
	}
	return v.finish()
}

// UnmarshalText reads low, normal or high.
func (p *Priority) UnmarshalText(text []byte) error {
	if *p = Priority(slices.Index([]string{"normal", "low", "high"}, string(text))); *p < 0 {
		return fmt.Errorf("%q is not a priority; use low, normal or high", text)
	}
	return nil
}

// value is a flag's value taken apart. It keeps the first error.
type value struct {
	head    string
	names   []string // of the options, as they were given
	options map[string]string
	known   []string // the names that were asked for
	err     error
}

func split(text []byte) *value {
	words := strings.Split(string(text), ",")
	v := &value{head: strings.TrimSpace(words[0]), options: map[string]string{}}
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

func (v *value) option(name string) (text string, given bool) {
	v.known = append(v.known, name)
	text, given = v.options[name]
	return text, given
}

// finish refuses names that were not asked for.
func (v *value) finish() error {
	for _, name := range v.names {
		if !slices.Contains(v.known, name) {
			v.fail("%q is not known here; the names are %s", name+"=", strings.Join(v.known, ", "))
		}
	}
	return v.err
}

// number reads a count. what says in an error what text is not.
func (v *value) number(what, text string, least, most int64, into *int64) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || text[0] == '+' {
		v.fail("%q is not %s (%d to %d)", text, what, least, most)
		return
	}
	*into = n
}

func (v *value) count(name string, least, most int64, into *int64) {
	if text, given := v.option(name); given {
		v.number("a count for "+name+"=", text, least, most, into)
	}
}

// rate reads a percentage in parts per million.
func (v *value) rate(what, text string, least int64, into *int64) {
	digits, percent := strings.CutSuffix(text, "%")
	if n, ok := scaled(digits, 100, million/100); ok && percent && n >= least {
		*into = n
		return
	}
	from := "0%"
	if least > 0 {
		from = "above 0%"
	}
	v.fail("%q is not %s such as 10%% (%s to 100%%)", text, what, from)
}

func (v *value) share(name string, into *int64) {
	if text, given := v.option(name); given {
		v.rate("a share for "+name+"=", text, 0, into)
	}
}

// refill reads tokens a second, such as "10/s" or "0.5/s", in thousandths.
func (v *value) refill(name string, into *int64) {
	if text, given := v.option(name); given {
		n, ok := scaled(strings.TrimSuffix(text, "/s"), maxNumber, 1000)
		if !ok {
			v.fail("%s=%q is not tokens a second such as 10/s (0/s to %d/s)", name, text, maxNumber)
		}
		*into = n
	}
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
	text, given := v.option(name)
	if !given {
		return
	}
	d, err := backoff.ParseDuration(text)
	if err != nil {
		v.fail("%s= %w", name, err)
		return
	}
	n := ceilDiv(int64(min(d, (maxDuration+1)*time.Millisecond)), int64(time.Millisecond))
	if n < least || n > maxDuration {
		v.fail("%s=%q is not from %v to 365 days", name, text, milliseconds(least))
	}
	*into = n
}

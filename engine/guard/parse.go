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
	// maxNumber is the greatest count that can be asked for.
	maxNumber = 1_000_000_000
	// maxSlots is the greatest number of slots: each may be a file.
	maxSlots = 10_000
	// maxDuration is 365 days, minWindow ten slices of a millisecond; both in
	// milliseconds.
	maxDuration = 365 * day
	minWindow   = parts
)

// ParseBreaker reads a rate such as "50%,min=10,window=60s,open=30s,probes=1", or
// a number of failures in a row such as "5,open=30s,probes=1".
func ParseBreaker(text string) (Breaker, error) {
	v, err := splitValue(text)
	if err != nil {
		return Breaker{}, err
	}
	b := Breaker{Min: 10, Window: 60_000, Open: 30_000, Probes: 1}
	if strings.HasSuffix(v.head, "%") {
		v.rate("a rate of failures", v.head, 1, &b.Rate)
		v.count("min", 1, maxNumber, &b.Min)
		v.duration("window", minWindow, &b.Window)
	} else {
		v.number("a rate of failures such as 50%, or a number of failures in a row", v.head, 1, maxNumber, &b.Row)
		b.Min, b.Window = 0, 0
		for _, name := range []string{"min", "window"} {
			if _, given := v.options[name]; given {
				v.fail(fmt.Errorf("%s= belongs to a rate such as 50%%; %q failures in a row have none", name, v.head))
			}
		}
	}
	v.duration("open", 1, &b.Open)
	v.count("probes", 1, maxProbes, &b.Probes)
	return b, v.finish("min", "window", "open", "probes")
}

// ParseBudget reads a share of the runs such as "10%,min=3,window=60s,reserve=0%".
func ParseBudget(text string) (Budget, error) {
	v, err := splitValue(text)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{On: true, Min: 3, Window: 60_000}
	v.rate("a share of the runs", v.head, 0, &b.Ratio)
	v.count("min", 0, maxNumber, &b.Min)
	v.duration("window", minWindow, &b.Window)
	v.share("reserve", &b.Reserve)
	return b, v.finish("min", "window", "reserve")
}

// ParseTokens reads the capacity of a bucket such as
// "500,cost=5,timeout-cost=10,success=1,refill=0/s,reserve=0%".
func ParseTokens(text string) (Tokens, error) {
	v, err := splitValue(text)
	if err != nil {
		return Tokens{}, err
	}
	t := Tokens{Cost: 5, TimeoutCost: 10, Success: 1}
	v.number("a number of tokens", v.head, 1, maxNumber, &t.Capacity)
	v.count("cost", 1, maxNumber, &t.Cost)
	v.count("timeout-cost", 1, maxNumber, &t.TimeoutCost)
	v.count("success", 0, maxNumber, &t.Success)
	v.refill("refill", &t.Refill)
	v.share("reserve", &t.Reserve)
	return t, v.finish("cost", "timeout-cost", "success", "refill", "reserve")
}

// ParseSlots reads a number of attempts at a time such as "4,wait=0s,of=attempts".
func ParseSlots(text string) (Slots, error) {
	v, err := splitValue(text)
	if err != nil {
		return Slots{}, err
	}
	var s Slots
	v.number("a number of attempts at a time", v.head, 1, maxSlots, &s.N)
	v.duration("wait", 0, &s.Wait)
	if of, given := v.options["of"]; given {
		switch of {
		case "attempts":
		case "retries":
			s.Of = OfRetries
		case "runs":
			s.Of = OfRuns
		default:
			v.fail(fmt.Errorf("of=%q is not known; it is attempts, retries or runs", of))
		}
	}
	return s, v.finish("wait", "of")
}

// ParsePriority reads low, normal or high.
func ParsePriority(text string) (Priority, error) {
	switch text {
	case "low":
		return Low, nil
	case "normal":
		return Normal, nil
	case "high":
		return High, nil
	}
	return Normal, fmt.Errorf("%q is not a priority; use low, normal or high", text)
}

// value is a flag's value taken apart. It keeps the first error.
type value struct {
	head    string
	names   []string // of the options, as they were given
	options map[string]string
	err     error
}

func splitValue(text string) (*value, error) {
	words := strings.Split(text, ",")
	v := &value{head: strings.TrimSpace(words[0]), options: map[string]string{}}
	for _, word := range words[1:] {
		name, text, found := strings.Cut(word, "=")
		name = strings.TrimSpace(name)
		if !found {
			return nil, fmt.Errorf("%q is not name=value", word)
		}
		if _, twice := v.options[name]; twice {
			return nil, fmt.Errorf("%s= is given twice", name)
		}
		v.names, v.options[name] = append(v.names, name), strings.TrimSpace(text)
	}
	return v, nil
}

func (v *value) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// finish refuses names that are not known.
func (v *value) finish(known ...string) error {
	for _, name := range v.names {
		if !slices.Contains(known, name) {
			v.fail(fmt.Errorf("%q is not known here; the names are %s", name+"=", strings.Join(known, ", ")))
		}
	}
	return v.err
}

// number reads a count. what says in an error what text is not.
func (v *value) number(what, text string, least, most int64, into *int64) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || text[0] == '+' {
		v.fail(fmt.Errorf("%q is not %s (%d to %d)", text, what, least, most))
		return
	}
	*into = n
}

func (v *value) count(name string, least, most int64, into *int64) {
	if text, given := v.options[name]; given {
		v.number("a count for "+name+"=", text, least, most, into)
	}
}

// rate reads a percentage in parts per million; what is above 0 is at least one.
func (v *value) rate(what, text string, least int64, into *int64) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(digits, 64)
	if !percent || err != nil || !plainDecimal(digits) || n < 0 || n > 100 || n == 0 && least > 0 {
		from := "0%"
		if least > 0 {
			from = "above 0%"
		}
		v.fail(fmt.Errorf("%q is not %s such as 10%% (%s to 100%%)", text, what, from))
		return
	}
	*into = int64(math.Round(n * million / 100))
	if n > 0 {
		*into = max(*into, 1)
	}
}

func (v *value) share(name string, into *int64) {
	if text, given := v.options[name]; given {
		v.rate("a share for "+name+"=", text, 0, into)
	}
}

// plainDecimal reports whether text has digits and at most a point, so that
// neither 1e3 nor Inf nor 0x1p4 is one.
func plainDecimal(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.") == ""
}

// duration reads a time and rounds it up to milliseconds.
func (v *value) duration(name string, least int64, into *int64) {
	text, given := v.options[name]
	if !given {
		return
	}
	d, err := backoff.ParseDuration(text)
	if err != nil {
		v.fail(fmt.Errorf("%s= %w", name, err))
		return
	}
	n := ceilDiv(int64(min(d, (maxDuration+1)*time.Millisecond)), int64(time.Millisecond))
	if n < least || n > maxDuration {
		v.fail(fmt.Errorf("%s=%q is not from %v to 365 days", name, text, milliseconds(least)))
		return
	}
	*into = n
}

// refill reads tokens a second, such as "10/s" or "0.5/s", in thousandths.
func (v *value) refill(name string, into *int64) {
	text, given := v.options[name]
	if !given {
		return
	}
	digits := strings.TrimSuffix(text, "/s")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !plainDecimal(digits) || n > maxNumber {
		v.fail(fmt.Errorf("%s=%q is not tokens a second such as 10/s (0/s to %d/s)", name, text, maxNumber))
		return
	}
	*into = int64(math.Round(n * 1000))
	if n > 0 {
		*into = max(*into, 1)
	}
}

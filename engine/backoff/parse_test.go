package backoff

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "250ms": 250 * ms, "1m30s": 90 * time.Second, "5": 5 * time.Second, "0.5": 500 * ms, ".5": 500 * ms,
		"1e3": 1000 * time.Second, "+5": 5 * time.Second, "2562047h": 2562047 * time.Hour, "-0": 0, "0.000000001": 1,
		"1h":    time.Hour,
		"0.4ns": 1, "1e-10": 1, "0.0h": 0, "1e-10000": 1, "0e5": 0, "1e-400s": 1,
		"10sec": 10 * time.Second, "5min": 5 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour,
		"1.5d": 36 * time.Hour, "2w": 14 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "1hour30min": 90 * time.Minute, "3seconds": 3 * time.Second, "1hr": time.Hour,
		"100msec": 100 * ms, "5us": 5 * time.Microsecond, "5\u00b5s": 5 * time.Microsecond,
		"9223372036854775807ns": Longest, "9223372036.854775807": Longest, "99999999999999999999": Longest,
		"9999999999h": Longest, "1e400": Longest, "200000d": Longest,
		"infinity": Longest, "Infinity": Longest, "inf": Longest, strings.Repeat("9", 60_000): Longest,
		"1e+3": 1000 * time.Second, "2e0min": 2 * time.Minute,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "not a duration", "x": "not a duration", "5x": "not a duration", "1 s": "as in 1s",
		"nan": "not a duration", "1e": "not a duration", "1e-": "not a duration", "1ee3": "not a duration",
		"1e+-3":                           "not a duration",
		strings.Repeat("9", 60_000) + "x": "not a duration", "--": "not a duration", "5 min": "in one word, as in 5min",
		"1 m 30 s": "as in 1m30s",
		"1 2":      "such as 250ms", "min": "such as 250ms", "5 x": "such as 250ms",
		"1h5": "not a duration", "5S": "not a duration", "1y": "not a duration",
		"0x1p3": "not a duration", "1_0": "not a duration", ".": "not a duration", "s": "not a duration",
		"1e400y": "not a duration", "1m-1s": "not a duration", "infs": "not a duration", "\xff": "not a duration",
		"-1d": "negative", "-infinity": "negative", "-1e400": "negative",
		"-1": "negative", "-250ms": "negative", "-1e-3": "negative", "-0.4ns": "negative", "-1e-10": "negative",
	} {
		if got, err := ParseDuration(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDuration(%q) = %v, %v; want an error with %q", in, got, err, want)
		}
	}
}

func TestParseJitter(t *testing.T) {
	for in, want := range map[string]Jitter{
		"full": {Kind: Full}, "equal": {Kind: Equal}, "decorrelated": {Kind: Decorrelated}, "none": {Kind: None},
		"25%": {Percent, 25}, "0%": {Percent, 0}, "100%": {Percent, 100}, "12.5%": {Percent, 12.5},
	} {
		if got, err := ParseJitter(in); err != nil || got != want {
			t.Errorf("ParseJitter(%q) = %v, %v; want %v", in, got, err, want)
		}
		var read Jitter
		if err := read.UnmarshalText([]byte(in)); err != nil || read != want || read.String() != in {
			t.Errorf("%q is read as %v, %v; want %v", in, read, err, want)
		}
	}
	for _, in := range []string{"", "%", "25", "-1%", "101%", "nan%", "Full", "25 %", "inf%"} {
		if got, err := ParseJitter(in); err == nil {
			t.Errorf("ParseJitter(%q) = %v, want an error", in, got)
		}
		if err := new(Jitter).UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is read without an error", in)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"250ms", "1m30s", "0.5", "-1", "1e400", "nan", "9223372036.854775807", "0x1p10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if d < 0 || err != nil && (d != 0 || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("ParseDuration(%q) = %d, %v", s, d, err)
		}
		if again, err2 := ParseDuration(d.String()); err == nil && (err2 != nil || again != d) {
			t.Fatalf("%q reads as %v, which reads as %v, %v", s, d, again, err2)
		}
	})
}

func FuzzParseJitter(f *testing.F) {
	for _, s := range []string{"full", "25%", "100%", "1e2%", "0x1p2%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := ParseJitter(s)
		if err == nil && !(j.P >= 0 && j.P <= 100) {
			t.Fatalf("ParseJitter(%q) = %v", s, j)
		}
	})
}

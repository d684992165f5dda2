package classify

// This file reads since when a lock is held. A new lock is released by the run that
// holds it; an old one was left behind by a run that is gone, and has to be removed
// by hand.

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// The lines around a match in which the time is looked for: tools print the
// lock's holder and its times below the error (terraform's Lock Info has seven
// lines), restic above its last one.
const (
	ageLinesBefore = 2
	ageLinesAfter  = 12
)

// zones is how far a time without a zone may be off: from UTC-12 to UTC+14.
const zones = 14 * time.Hour

// heldForms are the expressions that find a lock's time. They are compiled when
// a rule that asks for it has matched.
var heldForms = sync.OnceValue(func() (f struct{ ago, clock, span, moment *regexp.Regexp }) {
	f.ago = regexp.MustCompile(`(?i)\b((?:about |over |almost )?(?:an?|\d[\d.]*) ?(?:d|h|m|s|ms|sec|min|seconds?|minutes?|hours?|days?|weeks?|months?|years?)(?:[ ,]{0,2}\d[\d.]* ?(?:h|m|s|ms|sec|min|seconds?|minutes?|hours?|days?))*) ago\b`)
	f.clock = regexp.MustCompile(`\b(?:(\d+):)?(\d+):(\d\d) ago\b`)
	f.span = regexp.MustCompile(`(?i)(?:\ban? |(\d[\d.]*) ?)([a-z]+)`)
	const month = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`
	f.moment = regexp.MustCompile(`(?i)\b(?:created|since|acquired|locked|held|started|taken|obtained|lockedat|date|when)\b.{0,80}?\b(` +
		`\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?(?:z\b|utc\b|gmt\b|[+-]\d\d:?\d\d)?)?|` +
		`\d{1,2}/\d{1,2}/\d{2,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?|` +
		`\d{1,2} ` + month + ` \d{4}(?:,? \d\d:\d\d(?::\d\d)?)?(?: ?(?:utc|gmt|[+-]\d{4}))?|` +
		month + ` \d{1,2},? (?:\d{4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?(?: (?:utc|gmt))?(?: \d{4})?)`)
	return f
})

// held returns for how long the lock is held that the line from start to end
// reports; ok is false where nothing near it says so.
func (o *output) held(start, end int, now time.Time) (age time.Duration, ok bool) {
	if now.IsZero() {
		return 0, false
	}
	for range ageLinesBefore {
		if start > 0 {
			start, _ = o.line(start - 1)
		}
	}
	for range ageLinesAfter {
		if end < len(o.text) {
			_, end = o.line(end + 1)
		}
	}
	forms, near := heldForms(), o.text[start:end]
	if m := forms.ago.FindStringSubmatch(near); m != nil {
		for _, part := range forms.span.FindAllStringSubmatch(m[1], -1) {
			n, err := strconv.ParseFloat(part[1], 64)
			if err != nil {
				n = 1 // "an hour"
			}
			name := strings.ToLower(part[2])
			unit, known := text.Unit(name)
			if !known { // months and years
				unit = 24 * time.Hour * map[byte]time.Duration{'m': 30, 'y': 365}[name[0]]
			}
			age += time.Duration(n * float64(unit))
		}
		return age, true
	}
	if m := forms.clock.FindStringSubmatch(near); m != nil { // yum and DNF, hours:minutes:seconds
		age, _ = time.ParseDuration(cmp.Or(m[1], "0") + "h" + m[2] + "m" + m[3] + "s")
		return age, true
	}
	for _, m := range forms.moment.FindAllStringSubmatch(near, -1) {
		if strings.Contains(strings.ToLower(m[0]), "expire") {
			continue // a lease says until when
		}
		if when, zone, read := readMoment(m[1]); read {
			since := now.Sub(when)
			if !zone {
				since -= zones
			}
			age, ok = max(age, since), true
		}
	}
	return age, ok
}

// The parts of a moment: how RFC 3339, Go, Java (in the English locale), C and people
// write them. A year may follow C's time.
var (
	dates  = []string{"2006-01-02", "1/2/06", "1/2/2006", "2 Jan 2006", "Jan 2 2006", "Jan 2"}
	clocks = []string{"", " 15:04", " 15:04:05", "T15:04", "T15:04:05", " 3:04 PM", " 3:04:05 PM"}
	ends   = []string{"Z07:00", "Z0700", " Z07:00", " Z0700", " MST", " MST 2006", "", " 2006"}
)

// readMoment reads a moment; zone is false where it names no time zone.
func readMoment(s string) (when time.Time, zone, ok bool) {
	s = strings.TrimSpace(strings.ReplaceAll(strings.ToUpper(s), ",", ""))
	for _, date := range dates {
		for _, clock := range clocks {
			for _, end := range ends {
				if t, err := time.Parse(date+clock+end, s); err == nil && t.Year() > 0 {
					return t, end != "" && end != " 2006", true
				}
			}
		}
	}
	return time.Time{}, false, false
}

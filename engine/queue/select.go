package queue

// This file selects letters by the words of a mode.

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// Entry is a letter as it was listed.
type Entry struct {
	ID      string
	Letter  *Letter // what could be read, nil for nothing
	Problem error   // why it cannot be used, nil if it can
	Foreign bool    // another user may have written it: it is not changed
	Claimed bool    // a run, or a process that it left, holds its lock
	ByID    bool    // a word of Select was its id
	Stamp   string  // changes with each run of the letter
}

// Usable reports whether the letter could be read whole.
func (e *Entry) Usable() bool { return e.Problem == nil }

// leastDigits is how many digits behind the dash name a letter at least.
const leastDigits = 4

// find returns the letters that a word names: one by its id or by the first digits
// behind its dash, else those whose name is the word or matches it as a glob.
func find(all []*Entry, word string) (found []*Entry, byID bool, err error) {
	var ids []string
	for _, e := range all {
		if e.ID == word {
			return []*Entry{e}, true, nil
		}
		if len(word) >= leastDigits && strings.HasPrefix(e.ID[beforeDash+1:], word) {
			found, ids = append(found, e), append(ids, e.ID)
		}
	}
	switch len(ids) {
	case 0:
	case 1:
		return found, true, nil
	default:
		return nil, false, fmt.Errorf("%q stands for several letters: %s", word, strings.Join(ids, ", "))
	}
	for _, e := range all {
		if l := e.Letter; l != nil && l.Name != "" && named(string(l.Name), word) {
			found = append(found, e)
		}
	}
	return found, false, nil
}

func named(name, word string) bool {
	matches, err := path.Match(word, name)
	return name == word || err == nil && matches
}

// Older orders letters by their first failure.
func Older(a, b *Entry) int {
	return cmp.Or(a.first().Compare(b.first()), strings.Compare(a.ID, b.ID))
}

func (e *Entry) first() time.Time { return e.at(func(l *Letter) text.Time { return l.FirstFailedAt }) }

// Last is when the run failed last.
func (e *Entry) Last() time.Time { return e.at(func(l *Letter) text.Time { return l.LastFailedAt }) }

// at is a time of the letter, or the one in its id if the letter has none that can be read.
func (e *Entry) at(field func(*Letter) text.Time) time.Time {
	if e.Letter != nil {
		if t := field(e.Letter); !t.IsZero() {
			return t.Time
		}
	}
	t, _ := time.Parse(idTime, e.ID[:beforeDash])
	return t
}

// The words that take letters by their status.
const (
	DueWord    = "due"
	FailedWord = "failed"
	AllWord    = "all"
)

// Select returns the letters that words take, each once, and the words that name
// none. A word of sets names all letters. takes chooses among the letters that a word
// names other than by an id; nil takes all.
func Select(all []*Entry, words, sets []string, takes func(e *Entry, word string) bool) (chosen []*Entry,
	unmatched []string, err error) {
	for _, word := range words {
		found := all
		byID := false
		if !slices.Contains(sets, word) {
			if found, byID, err = find(all, word); err != nil {
				return nil, unmatched, err
			}
			if len(found) == 0 {
				unmatched = append(unmatched, word)
			}
		}
		for _, e := range found {
			e.ByID = e.ByID || byID
			if (byID || takes == nil || takes(e, word)) && !slices.Contains(chosen, e) {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen, unmatched, nil
}

// Redrivable is Select for --redrive, oldest first. limit is --redrive-max.
func Redrivable(all []*Entry, words []string, now time.Time, limit int) (chosen []*Entry, unmatched []string,
	err error) {
	if len(words) == 0 {
		words = []string{DueWord}
	}
	chosen, unmatched, err = Select(all, words, []string{DueWord, FailedWord, AllWord},
		func(e *Entry, word string) bool {
			return e.taken(word, now, limit)
		})
	slices.SortStableFunc(chosen, Older)
	return chosen, unmatched, err
}

// taken reports whether a word that is no id takes the letter. One that cannot be read
// counts as failed.
func (e *Entry) taken(word string, now time.Time, limit int) bool {
	l := e.Letter
	switch {
	case l == nil || !e.Usable() && !l.Due(now):
		return word != DueWord
	case l.Status(limit) == "poison":
		return false
	case l.Parked():
		return word != FailedWord && l.Due(now)
	}
	return word != DueWord
}

// Rate is the least time between two starts.
type Rate time.Duration

// UnmarshalText reads a rate such as 2/s, 30/m or 0.5/h.
func (r *Rate) UnmarshalText(rate []byte) error {
	count, unit, _ := strings.Cut(string(rate), "/")
	n, err := strconv.ParseFloat(count, 64)
	per, known := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || !known || !(n > 0) || n > 1e9 || float64(per)/n > float64(10000*time.Hour) {
		return fmt.Errorf("%q is not a rate; write a number above 0 and /s, /m or /h, as in 2/s", rate)
	}
	*r = Rate(float64(per) / n)
	return nil
}

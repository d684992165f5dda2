package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// eachStore runs a test on files and on a server.
func eachStore(t *testing.T, f func(t *testing.T, s guard.Store)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		f(t, NewFile(filepath.Join(t.TempDir(), "state"), "host"))
	})
	t.Run("redis", func(t *testing.T) {
		s, _ := newRedis(t, "")
		f(t, s)
	})
}

const hour = 3_600_000 // ms; no test takes as long

// watched are guards of every kind.
var watched = &guard.Guards{
	Breaker: guard.Breaker{Rate: 500_000, Min: 2, Window: hour, Open: hour, Probes: 1}, Adaptive: true,
	Budget: guard.Budget{On: true, Ratio: 100_000, Min: 3, Window: hour}, Tokens: guard.Tokens{Capacity: 500, Cost: 5},
	Slots: guard.Slots{N: 2},
}

func mustDo(t *testing.T, s guard.Store, r guard.Request) (guard.Answer, guard.Lock) {
	t.Helper()
	a, lock, err := s.Do(soon(t), "key", watched, &r)
	if err != nil {
		t.Fatal(err)
	}
	return a, lock
}

func status(t *testing.T, s guard.Store, g *guard.Guards) string {
	t.Helper()
	known, err := s.Look(soon(t), "key")
	if err != nil {
		t.Fatal(err)
	}
	if known == nil {
		return "nothing"
	}
	shown := known.Status("key", g)
	text := string(must(json.Marshal(shown)))
	if until := shown.Breaker.OpenUntil; until != nil {
		if left := until.Sub(time.UnixMilli(known.Now)); left <= 0 || left > time.Hour {
			t.Errorf("it is open for %v more", left)
		}
		text = strings.ReplaceAll(text, until.String(), "soon")
	}
	return text
}

func TestLookAndReset(t *testing.T) {
	eachStore(t, func(t *testing.T, s guard.Store) {
		var held guard.Pass // with a lease
		check := func(g *guard.Guards, want string) {
			t.Helper()
			if held.Slot { // on a machine that is late the lease is over
				mustDo(t, s, guard.Request{Op: guard.Renew, Pass: held})
			}
			if got := status(t, s, g); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		mustDo(t, s, guard.Request{Op: guard.Reset})
		check(watched, "nothing")
		a, lock := mustDo(t, s, guard.Request{Op: guard.Admit, Attempt: 1, ID: 1, Slot: true, Held: -1})
		if lock == nil {
			held = a.Pass
		}
		mustDo(t, s, guard.Request{Op: guard.Permit, Attempt: 2})
		closed := `{"key":"key","breaker":{"state":"closed","failures":0,"outcomes":0,"failures_in_a_row":0,` +
			`"open_until":null},` +
			`"budget":{"used":1,"of":3},"slots":{"held":1},"tokens":{"missing":5,"left":495},"rate_limit":{` +
			`"next_in_ms":0},"adaptive":{"successes":0,"outcomes":0}}`
		check(watched, closed)
		check(watched, closed) // looking has changed nothing
		if b, second := mustDo(t, s, guard.Request{Op: guard.Admit, Attempt: 1, ID: 2, Slot: true,
			Held: -1}); !b.Pass.Slot {
			t.Errorf("looking took a slot: %+v", b.Refusal)
		} else if held := b.Pass; second != nil {
			held.Slot = false
			second.Unlock()
			mustDo(t, s, guard.Request{Op: guard.Report, Pass: held, Outcome: guard.Success})
		} else {
			mustDo(t, s, guard.Request{Op: guard.Report, Pass: held, Outcome: guard.Success})
		}
		failed := a.Pass
		failed.Slot = false // it continues
		mustDo(t, s, guard.Request{Op: guard.Report, Pass: failed, Outcome: guard.Failure})
		check(new(guard.Guards), `{"key":"key","breaker":{"state":"open","failures":1,"outcomes":2,`+
			`"failures_in_a_row":0,"open_until":null},`+
			`"budget":null,"slots":{"held":1},"tokens":{"missing":5,"left":null},"rate_limit":{"next_in_ms":0}`+
			`,"adaptive":{"successes":1,"outcomes":2}}`)
		check(watched, `{"key":"key","breaker":{"state":"open","failures":1,"outcomes":2,"failures_in_a_row":0,`+
			`"open_until":"soon"},`+
			`"budget":{"used":1,"of":3},"slots":{"held":1},"tokens":{"missing":5,"left":495},"rate_limit":{`+
			`"next_in_ms":0},"adaptive":{"successes":1,"outcomes":2}}`)

		mustDo(t, s, guard.Request{Op: guard.Reset})
		mustDo(t, s, guard.Request{Op: guard.Report, Pass: failed, Outcome: guard.Failure}) // was admitted before
		check(watched, `{"key":"key","breaker":{"state":"closed","failures":0,"outcomes":0,"failures_in_a_row":0,`+
			`"open_until":null},`+
			`"budget":{"used":0,"of":3},"slots":{"held":1},"tokens":{"missing":0,"left":500},"rate_limit":{`+
			`"next_in_ms":0},"adaptive":{"successes":0,"outcomes":0}}`)
		if lock != nil {
			lock.Unlock()
		}
	})
}

// TestLookNeverTakesASlotAway: runs that take and free the only slot are never
// refused while others look.
func TestLookNeverTakesASlotAway(t *testing.T) {
	f, _ := newFile(t)
	over := make(chan struct{})
	ended := make(chan error)
	go func() {
		for {
			select {
			case <-over:
				ended <- nil
				return
			default:
				if _, err := f.Look(t.Context(), "npm: the registry"); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	for range 300 {
		a, lock := do(t, f, &guard.Guards{Slots: guard.Slots{N: 1}},
			guard.Request{Op: guard.Admit, Attempt: 1, Slot: true})
		if lock == nil {
			t.Fatalf("%+v", a.Refusal)
		}
		lock.Unlock()
	}
	close(over)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestLookOfWhatCannotBeRead(t *testing.T) {
	f, _ := newFile(t)
	do(t, f, budget, run)
	if err := os.WriteFile(f.path("npm: the registry"), []byte("no record"), 0o600); err != nil {
		t.Fatal(err)
	}
	if known, err := f.Look(soon(t), "npm: the registry"); err == nil {
		t.Errorf("%+v", known)
	}
}

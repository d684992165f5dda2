package telemetry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/testdata/tries"
)

// counted returns how many runs are counted in a metrics file, and what else is in
// its directory.
func counted(t *testing.T, file string) (n float64, others []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.of(runs) {
		n += m[s][0]
	}
	all, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Name() != filepath.Base(file) && !strings.HasSuffix(f.Name(), ".lock") {
			others = append(others, f.Name())
		}
	}
	return n, others
}

func TestManyWritersLoseNothing(t *testing.T) {
	const writers, names = 40, 30
	each := tries.Of(8)
	before := besideLimit
	defer func() { besideLimit = before }()
	besideLimit = 5 * time.Minute // on a busy machine one of 40 may come last for long
	file := filepath.Join(t.TempDir(), "a.prom")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := addToFile(context.Background(), file,
					recorded(fmt.Sprint("name", (w*each+i)%names))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, others := counted(t, file); n != float64(writers*each) || others != nil {
		t.Errorf("%v of %d runs are counted, and there is %q", n, writers*each, others)
	}
}

// hold locks a metrics file as another run does.
func hold(t *testing.T, file string) (release func()) {
	t.Helper()
	if filepath.Separator == '\\' {
		file += ".lock"
	}
	f, err := lockCurrent(context.Background(), file, time.Minute, true)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() } // frees the lock
}

func TestARunThatDoesNotGetTheLockIsLeftBeside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.prom")
	release := hold(t, file)
	cancelled := recorded("a")
	cancelled.End.Outcome = event.Cancelled
	for _, r := range []*run{recorded("a"), cancelled, recorded("b")} {
		if err := addToFile(context.Background(), file, r); err != nil {
			t.Error(err)
		}
	}
	if n, others := counted(t, file); n != 0 || len(others) != 1 {
		t.Errorf("%v runs are counted under another's lock, and there is %q", n, others)
	}
	release()
	if err := addToFile(context.Background(), file, recorded("a")); err != nil {
		t.Error(err)
	}
	if n, others := counted(t, file); n != 4 || others != nil {
		t.Errorf("%v of 4 runs are counted, and there is %q", n, others)
	}
}

func TestForeignFilesBesideAreLeft(t *testing.T) {
	for _, foreign := range []string{"mine\n", `"node_load1 1"` + "\n", "{}\n"} {
		file := filepath.Join(t.TempDir(), "a.prom")
		if err := os.WriteFile(besideOf(file), []byte(foreign), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := addToFile(context.Background(), file, recorded("a")); err == nil ||
			!strings.Contains(err.Error(), besideEnding) {
			t.Errorf("%q: %v", foreign, err)
		}
		after, _ := os.ReadFile(besideOf(file))
		if n, _ := counted(t, file); n != 1 || string(after) != foreign {
			t.Errorf("%q became %q; %v runs are counted", foreign, after, n)
		}
	}
}

// A mark counts if the metrics file has the content that it names.
func TestMarks(t *testing.T) {
	line, err := lineOf(recorded("a").metrics)
	if err != nil {
		t.Fatal(err)
	}
	one, content, other := string(line), "content", "other"
	mark, otherMark := string(markOf([]byte(content))), string(markOf([]byte(other)))
	for left, want := range map[string]int{
		"":                                      0,
		one + one:                               2,
		one + mark:                              0,
		one + otherMark:                         1,
		one + one + mark + one:                  1,
		one + mark + one + otherMark:            1,
		one + otherMark + one + mark:            0,
		one + otherMark + one + otherMark + one: 3,
		one + mark + mark + one + otherMark + one: 2,
	} {
		if got, err := pending([]byte(left), []byte(content)); err != nil || len(got) != want {
			t.Errorf("%d runs, %v; want %d of\n%s", len(got), err, want, left)
		}
	}
}
